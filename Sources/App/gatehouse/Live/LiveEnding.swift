import GatewayClient
import HomeTypes
import Signalling

/// Why a live view ended before its time.
enum LiveEnding {
    /// How long the gateway's word may take after the connection has ended.
    private static let patience = Duration.seconds(2)

    /// Follows the gateway's events until one says that a session has ended, or until the task is cancelled.
    /// - Returns: the reason; nil where the gateway gave none.
    static func told(of session: String, _ connection: GatewayConnection) -> Task<String?, Never> {
        Task {
            var reader = SessionEndReader(session: session)
            var follower = EventFollower(connection, patience: nil)
            do throws(HomeError) {
                try await follower.run { report in
                    guard case .update(let update) = report, reader.take(update) else { return }
                    withUnsafeCurrentTask { task in
                        if let task { task.cancel() }
                    }
                }
            } catch {
                // It was cancelled, or the gateway refused. The goodbye of the connection has a reason too.
            }
            return reader.reason
        }
    }

    /// The reason in words for the person who watched.
    /// - Parameters:
    ///   - said: the reason that came with the end of the connection.
    ///   - told: what the gateway's events report.
    ///   - refusal: why the last extension of the lease failed; nil if it did not.
    static func words(said: String, told: Task<String?, Never>, refusal: String?) async -> String {
        let timer = Task {
            try? await Task.sleep(for: Self.patience)
            told.cancel()
        }
        defer { timer.cancel() }
        guard let reason = await told.value else { return said }
        guard reason == SessionEnd.leaseExpired.words else { return reason }
        // This command extends the lease as long as that is possible.
        return refusal.map { "the live view could not be extended: \($0)" }
            ?? "it has lasted as long as the gateway permits (sessions.maximumDurationSeconds in its config)"
    }
}
