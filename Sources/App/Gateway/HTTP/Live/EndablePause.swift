import Transport

/// Pauses that somebody else can end for good.
final class EndablePause: Sendable {
    private let hasEnded = Awaitable(false)

    /// Waits until a moment.
    /// - Returns: false if there is no reason to continue.
    func sleep(until moment: ContinuousClock.Instant) async -> Bool {
        let isEnded = await hasEnded.wait(atMost: ContinuousClock.now.duration(to: moment)) { $0 }
        return !isEnded && !Task.isCancelled
    }

    /// Ends the pause, and all further ones.
    func end() { hasEnded.withLock { $0 = true } }
}
