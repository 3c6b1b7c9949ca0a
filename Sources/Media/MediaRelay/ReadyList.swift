import Transport

/// The inlets that hold something for one shard, in the order in which they got it.
///
/// A shard's wake-up costs what has come, however many cameras there are. Any thread adds; the shard's thread takes.
final class ReadyList: Sendable {
    private struct State {
        var inlets: [TrackInlet] = []
        var wake: (@Sendable () -> Void)?
        var isClosed = false
    }

    private let state = Locked(State())

    /// - Parameter wake: Wakes the shard. Called when an inlet is added to an empty list.
    init(wake: (@Sendable () -> Void)? = nil) {
        state.withLock { $0.wake = wake }
    }

    /// Adds an inlet that had nothing for this shard before.
    func add(_ inlet: TrackInlet) {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            guard !state.isClosed else { return nil }
            state.inlets.append(inlet)
            return state.inlets.count == 1 ? state.wake : nil
        }
        wake?()
    }

    /// Exchanges the inlets with `inlets`, which should be empty: both arrays keep their memory.
    func take(into inlets: inout [TrackInlet]) {
        state.withLock { state in swap(&state.inlets, &inlets) }
    }

    /// The shard has ended: inlets are no longer kept for it.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.inlets = []
        }
    }
}
