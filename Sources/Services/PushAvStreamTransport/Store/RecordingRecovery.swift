import Transport

/// Says when the recordings of earlier runs are known. ``RecordingStore/recover()`` reads them after the start, while
/// clients connect already: an answer that does not wait for it misses what the index did not know.
public final class RecordingRecovery: Sendable {
    private struct State {
        var isOver: Bool
        var nextNumber = 0
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
    }

    private let state: Locked<State>

    /// - Parameter isOver: true where there is nothing to wait for.
    public init(isOver: Bool = false) {
        state = Locked(State(isOver: isOver))
    }

    /// The recovery has ended, also if it has failed: what cannot be read does not become readable by waiting.
    public func end() {
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [:] }
            return state.waiting
        }
        for one in waiting.values { one.resume(returning: true) }
    }

    /// How many wait for it.
    var waiterCount: Int { state.withLock { $0.waiting.count } }

    /// Waits for the end.
    /// - Returns: false when it has not come within `patience`.
    public func wait(atMost patience: Duration) async -> Bool {
        let number = state.withLock { state -> Int? in
            guard !state.isOver else { return nil }
            state.nextNumber += 1
            return state.nextNumber
        }
        guard let number else { return true }
        var timer: Task<Void, Never>?
        defer { timer?.cancel() }
        return await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.isOver { state.waiting[number] = continuation }
                return state.isOver
            }
            if isOver { return continuation.resume(returning: true) }
            // The timer starts only now. One that ended before would find no continuation, and the wait would never end.
            timer = Task.detached { [self] in
                // A sleep that was cancelled means that the wait is over.
                try? await Task.sleep(for: patience)
                state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: false)
            }
        }
    }
}
