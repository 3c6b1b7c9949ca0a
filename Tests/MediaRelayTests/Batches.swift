import RTP
import Transport

/// Makes batches as a camera does: one frame each, numbered on.
struct FrameMaker: ~Copyable {
    private var pool = PacketBatchPool()
    private(set) var sequenceNumber: UInt16
    private(set) var timestamp: UInt32
    private(set) var frame = 0
    let ticksPerFrame: UInt32

    init(sequenceNumber: UInt16 = 65_530, timestamp: UInt32 = .max - 5_000, ticksPerFrame: UInt32 = 6_000) {
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
        self.ticksPerFrame = ticksPerFrame
    }

    /// The next frame of `packets` packets. Each payload starts with the frame's number and the packet's.
    mutating func next(
        isKeyFrame: Bool = false, packets: Int = 3, payloadLength: Int = 100, at arrival: Instant
    ) -> PacketBatch {
        for index in 0..<packets {
            var flags: PacketBatch.Flags = isKeyFrame ? .keyFrame : []
            if index == 0 { flags.insert(.startsFrame) }
            if index == packets - 1 { flags.insert(.marker) }
            var payload = [UInt8](repeating: 0x55, count: payloadLength)
            payload[0] = UInt8(truncatingIfNeeded: frame)
            payload[1] = UInt8(truncatingIfNeeded: index)
            payload.withUnsafeBytes {
                pool.append(
                    PacketBatch.Packet(
                        offset: 0, length: 0, timestamp: timestamp, sequenceNumber: sequenceNumber, payloadType: 96,
                        flags: flags),
                    payload: $0)
            }
            sequenceNumber &+= 1
        }
        timestamp &+= ticksPerFrame
        frame += 1
        guard let batch = pool.finish(arrival: arrival) else { preconditionFailure("a frame has at least one packet") }
        return batch
    }

    /// The camera starts again somewhere else.
    mutating func restart(sequenceNumber: UInt16, timestamp: UInt32) {
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
    }
}

func milliseconds(_ count: Int64) -> Instant { Instant(nanoseconds: count * 1_000_000) }
