import RTP
import Transport

/// Where a camera hands in the batches of one track; the shard takes them out at its next wake-up.
///
/// One short lock per batch, none per packet. The arrays are kept, so a steady stream allocates nothing.
public final class TrackInlet: Sendable {
    private struct State {
        var batches: [PacketBatch] = []
        var hasRestarted = false
        var isClosed = false
        var dropped: UInt64 = 0
    }

    /// More than this waiting means that the shard has stopped; the camera must not fill the memory meanwhile.
    private static let maximumWaiting = 4096

    private let state = Locked(State())
    private let wake: @Sendable () -> Void

    /// - Parameter wake: Wakes the shard; called when a batch comes to an empty inlet.
    init(wake: @escaping @Sendable () -> Void) {
        self.wake = wake
    }

    /// Hands a batch in.
    public func deliver(_ batch: PacketBatch) {
        let first = state.withLock { state -> Bool in
            guard !state.isClosed else { return false }
            guard state.batches.count < Self.maximumWaiting else {
                state.dropped += 1
                return false
            }
            state.batches.append(batch)
            return state.batches.count == 1 && !state.hasRestarted
        }
        if first { wake() }
    }

    /// Says that what comes from now on has nothing to do with what came before: the source numbers anew, and what the
    /// ring holds is not to be shown any more. What still waits here is of before, and goes too.
    public func noteRestart() {
        let first = state.withLock { state -> Bool in
            guard !state.isClosed else { return false }
            let isFirst = state.batches.isEmpty && !state.hasRestarted
            state.batches.removeAll(keepingCapacity: true)
            state.hasRestarted = true
            return isFirst
        }
        if first { wake() }
    }

    /// Takes all batches out, into `batches`, whose storage the inlet uses from now on. Answers whether the source has
    /// started again before them.
    func take(into batches: inout [PacketBatch]) -> Bool {
        batches.removeAll(keepingCapacity: true)
        return state.withLock { state in
            swap(&state.batches, &batches)
            defer { state.hasRestarted = false }
            return state.hasRestarted
        }
    }

    /// Takes nothing any more.
    func close() {
        state.withLock {
            $0.isClosed = true
            $0.batches = []
        }
    }

    /// How many batches were thrown away because the shard did not take them.
    public var dropped: UInt64 { state.withLock { $0.dropped } }
}
