import RTP
import Transport

/// Where a camera hands in the batches of one track; the shard takes them out at its next wake-up.
///
/// One short lock per batch, none per packet. The arrays are kept, so a steady stream allocates nothing.
public final class TrackInlet: Sendable {
    /// What was thrown away because the shard did not take it in time.
    public struct Drops: Sendable, Equatable {
        /// Packets.
        public var packets: UInt64 = 0
        /// The bytes of their payloads.
        public var bytes: UInt64 = 0

        static func += (left: inout Drops, right: Drops) {
            left.packets += right.packets
            left.bytes += right.bytes
        }
    }

    private struct State {
        var batches: [PacketBatch] = []
        /// The memory that the batches hold.
        var byteCount = 0
        /// Something has been thrown away since the shard last looked. What follows goes too: a stream with one gap costs
        /// the viewers one key frame, and one with many gaps everything.
        var isFull = false
        var hasRestarted = false
        var isClosed = false
        var drops = Drops()
    }

    /// More than this waiting means that the shard has stopped; the camera must not fill the memory meanwhile. A viewer that is
    /// so far behind skips to the next key frame anyway (``RelayLimits/maximumLag``).
    static let maximumLag = Duration.seconds(2)
    /// Two seconds of a camera of 30 Mbit/s.
    static let maximumBytes = 8 << 20

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
            if let oldest = state.batches.first {
                // A batch that comes alone is taken whatever its size.
                let isTooLate = batch.arrival - oldest.arrival > Self.maximumLag
                let isTooLarge = state.byteCount + batch.footprint > Self.maximumBytes
                if isTooLate || isTooLarge { state.isFull = true }
            }
            guard !state.isFull else {
                state.drops += Drops(packets: UInt64(batch.packets.count), bytes: UInt64(batch.payloadByteCount))
                return false
            }
            state.batches.append(batch)
            state.byteCount += batch.footprint
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
            state.byteCount = 0
            state.isFull = false
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
            state.byteCount = 0
            state.isFull = false
            defer { state.hasRestarted = false }
            return state.hasRestarted
        }
    }

    /// Takes nothing any more.
    func close() {
        state.withLock {
            $0.isClosed = true
            $0.batches = []
            $0.byteCount = 0
        }
    }

    /// What was thrown away so far.
    public var drops: Drops { state.withLock { $0.drops } }
}
