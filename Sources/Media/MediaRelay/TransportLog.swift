import Transport

/// Maps recent transport-wide sequence numbers to the video packets that they carried, so that feedback leads back to the
/// packets.
///
/// Only viewers with heavy loss have one. An entry covers all packets that were sent together.
struct TransportLog {
    /// What a transport-wide sequence number stands for.
    struct Packet: Equatable {
        /// The packet's index in the media stream.
        var index: UInt64
        /// Whether the packet was a retransmission.
        var isRetransmission: Bool
    }

    private struct Run {
        var transport: UInt16
        var count: UInt16
        var index: UInt64
        var isRetransmission: Bool
    }

    private static let capacity = 256
    /// Other packets, such as sound, use these numbers too, and the numbers wrap around after a while.
    private static let memory = Duration.seconds(2)

    /// A ring; ``oldest`` is the position of the oldest entry once it is full.
    private var runs: [Run] = []
    private var oldest = 0
    private var newestAt = Instant.zero

    /// Records that `count` packets from `index` were sent under the numbers from `transport`.
    mutating func add(transport: UInt16, count: Int, index: UInt64, isRetransmission: Bool, at now: Instant) {
        guard count > 0, count <= 0x1000 else { return }
        if now - newestAt > Self.memory { removeAll() }
        newestAt = now
        let run = Run(
            transport: transport, count: UInt16(count), index: index, isRetransmission: isRetransmission)
        if runs.count < Self.capacity {
            runs.append(run)
        } else {
            runs[oldest] = run
            oldest = (oldest + 1) % Self.capacity
        }
    }

    /// Removes all entries and keeps the storage.
    mutating func removeAll() {
        runs.removeAll(keepingCapacity: true)
        oldest = 0
    }

    /// The video packet that was sent under a number; nil if it was another packet, or if it is too old.
    func find(_ transport: UInt16) -> Packet? {
        guard !runs.isEmpty else { return nil }
        let base = runs[oldest].transport
        let sought = transport &- base
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            if runs[(oldest + middle) % runs.count].transport &- base <= sought {
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard low > 0 else { return nil }
        let run = runs[(oldest + low - 1) % runs.count]
        let offset = transport &- run.transport
        guard offset < run.count else { return nil }
        return Packet(
            index: run.isRetransmission ? run.index : run.index + UInt64(offset), isRetransmission: run.isRetransmission
        )
    }
}
