import Transport

/// The sessions that have changed since their reader last looked, each once however often it has changed. It holds at
/// most as many entries as there are sessions, so a slow reader costs nothing.
///
/// Any thread may add to it without waiting. It has one reader.
public final class ChangedSessions: Sendable {
    private struct State {
        var order: [String] = []
        var known: Set<String> = []
    }

    /// Is added to as well.
    private let mirror = Locked<ChangedSessions?>(nil)

    private let state = Locked(State())
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    /// Nothing has changed.
    public init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Records that a session has started, changed or ended.
    public func add(_ mediaSessionId: String) {
        let isNew = state.withLock { state in
            guard state.known.insert(mediaSessionId).inserted else { return false }
            state.order.append(mediaSessionId)
            return true
        }
        if isNew { signal.yield() }
        mirror.withLock { $0 }?.add(mediaSessionId)
    }

    /// Adds what changes from now on to another one too, for a second reader.
    func mirror(to other: ChangedSessions) { mirror.withLock { $0 = other } }

    /// Waits for changes, and returns the sessions that have changed, in the order of their first change. Nil after
    /// ``finish()``, or when the task is cancelled.
    public func next() async -> [String]? {
        for await _ in signals {
            let changed = state.withLock { state in
                defer { state = State() }
                return state.order
            }
            if !changed.isEmpty { return changed }
        }
        return nil
    }

    /// Ends the reader.
    public func finish() { signal.finish() }
}
