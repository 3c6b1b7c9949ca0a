import HomeTypes
import PushAvStreamTransport
import Transport

/// What the routes of recordings need: the store, and the owner's word on what may leave the gateway.
public struct RecordingAccess: Sendable {
    /// The right to send footage. It is asked again for each block that leaves.
    public struct Permit: Sendable {
        /// Why footage may no longer leave; nil while it may.
        public var refusal: @Sendable () -> String?

        /// Makes a permit.
        public init(refusal: @escaping @Sendable () -> String?) { self.refusal = refusal }

        /// Whether the request that asked for the footage still has the right to it; nil where nobody else decides.
        var right: (@Sendable () throws(HomeError) -> Void)?

        func check() throws(HomeError) {
            if let refusal = self.refusal() { throw .failedPrecondition(refusal) }
            if let right { try right() }
        }

        /// The same permit for a request whose right may end while its answer is being sent.
        func holding(_ right: @escaping @Sendable () throws(HomeError) -> Void) -> Permit {
            var permit = self
            permit.right = right
            return permit
        }
    }

    /// The store.
    public var store: any RecordingReading
    /// Says when it knows the recordings of earlier runs. Answers wait for that.
    public var recovery: RecordingRecovery
    /// Asks whether footage of a device may leave. `isRunning`: it is being recorded, so it shows what happens now.
    public var permit: @Sendable (_ device: String, _ isRunning: Bool) async throws(HomeError) -> Permit

    /// Why there are no recordings at the moment, and what to do; nil while there are. It may wait for the disk.
    public var problem: @Sendable () -> String? = { nil }

    /// How long a request waits for the recordings of earlier runs.
    public var recoveryPatience = Duration.seconds(10)

    /// Names what the routes need.
    public init(
        store: any RecordingReading, recovery: RecordingRecovery = RecordingRecovery(isOver: true),
        permit: @escaping @Sendable (_ device: String, _ isRunning: Bool) async throws(HomeError) -> Permit = { _, _ in
            Permit { nil }
        }
    ) {
        self.store = store
        self.recovery = recovery
        self.permit = permit
    }

    /// Runs `body`, which waits for the disk, on a separate thread, once the recordings of earlier runs are known.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any RecordingReading) throws(PlaybackError) -> Value
    ) async throws -> Value {
        guard await recovery.wait(atMost: recoveryPatience) else {
            throw HomeError.unavailable("the recordings are still being read after the start; try again in a minute")
        }
        let (store, problem) = (self.store, self.problem)
        let result: Result<Value, HomeError> = await withCheckedContinuation { continuation in
            let work: @Sendable () -> Void = {
                if let reason = problem() {
                    let error = HomeError.unavailable("there are no recordings at the moment: \(reason)")
                    return continuation.resume(returning: .failure(error))
                }
                do throws(PlaybackError) {
                    continuation.resume(returning: .success(try body(store)))
                } catch {
                    continuation.resume(returning: .failure(HomeError(error)))
                }
            }
            // Without a thread, the work is done here, which is slow but right.
            if !startDetachedThread(work) { work() }
        }
        return try result.get()
    }
}

extension HomeError {
    /// An error of playback, for a client.
    init(_ error: PlaybackError) {
        switch error {
        case .nothingRecorded, .noPictures, .noPlayableTrack, .noKeyFrame, .pictureNotEncoded, .store(.unknownSession):
            self = .notFound("\(error)")
        case .store(.refused), .store(.inProgress): self = .failedPrecondition("\(error)")
        case .formatChanges, .tooManySegments, .tooManySamples, .gapTooLong: self = .failedPrecondition("\(error)")
        case .unreadable: self = .dataLoss("\(error)")
        case .unwritable, .store(.storage): self = .internal("\(error)")
        case .store(.storageFull): self = .resourceExhausted("\(error)")
        }
    }
}
