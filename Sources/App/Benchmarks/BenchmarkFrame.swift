import RTP
import Transport

/// The frames of a relay benchmark. They have the size of an ordinary picture of a camera of some 1 Mbit/s.
struct BenchmarkFrame {
    /// Packets in a frame: as many as one send usually carries.
    let packets = 8
    /// Payload bytes in a packet; with header and tag some 1,200 bytes.
    let payloadSize = 1160
    /// A key frame comes every this many frames.
    let keyFrameInterval = 30
    /// The time between two frames.
    let interval = Duration.nanoseconds(66_666_667)

    /// Makes frame `number`, which arrived at `arrival`.
    func make(_ number: Int, from pool: inout PacketBatchPool, arrival: Instant) -> PacketBatch? {
        let isKeyFrame = number % keyFrameInterval == 0
        withUnsafeTemporaryAllocation(byteCount: payloadSize, alignment: 16) { bytes in
            bytes.initializeMemory(as: UInt8.self, repeating: UInt8(truncatingIfNeeded: number))
            for index in 0..<packets {
                var flags: PacketBatch.Flags = isKeyFrame ? .keyFrame : []
                if index == 0 { flags.insert(.startsFrame) }
                if index == packets - 1 { flags.insert(.marker) }
                pool.append(
                    PacketBatch.Packet(
                        offset: 0, length: 0, timestamp: UInt32(truncatingIfNeeded: number &* 6000),
                        sequenceNumber: UInt16(truncatingIfNeeded: number &* packets &+ index), payloadType: 96,
                        flags: flags),
                    payload: UnsafeRawBufferPointer(bytes))
            }
        }
        return pool.finish(arrival: arrival)
    }
}
