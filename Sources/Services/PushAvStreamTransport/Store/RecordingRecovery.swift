import Transport

/// Says when the recordings of earlier runs are known. ``RecordingStore/recover()`` reads them after the start, while
/// clients connect already: an answer that does not wait for it misses what the index did not know.
public final class RecordingRecovery: Sendable {
    private let isOver: Awaitable<Bool>

    /// - Parameter isOver: true where there is nothing to wait for.
    public init(isOver: Bool = false) {
        self.isOver = Awaitable(isOver)
    }

    /// The recovery has ended, also if it has failed: what cannot be read does not become readable by waiting.
    public func end() { isOver.withLock { $0 = true } }

    /// How many wait for it.
    var waiterCount: Int { isOver.waitCount }

    /// Waits for the end, at most `patience`, and no longer than until the task is cancelled.
    /// - Returns: false when it has not come by then.
    public func wait(atMost patience: Duration) async -> Bool { await isOver.wait(atMost: patience) { $0 } }
}
