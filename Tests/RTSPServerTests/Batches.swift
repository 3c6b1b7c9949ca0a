import Cameras
import RTP
import SDP
import Transport

@testable import MediaRelay

/// Makes the batches of a track, frame by frame.
struct Batches: ~Copyable {
    private var pool = PacketBatchPool()
    private var next: UInt16 = 65_530
    private var timestamp: UInt32 = 0

    /// A frame of `packets` packets of 100 bytes, 33 ms after the one before.
    mutating func frame(packets: Int, isKeyFrame: Bool = false, at now: Instant = .zero) -> TappedBatch {
        timestamp &+= 3000
        let first = next
        for index in 0..<packets {
            var flags: PacketBatch.Flags = []
            if index == 0 { flags.insert(.startsFrame) }
            if isKeyFrame { flags.insert(.keyFrame) }
            if index == packets - 1 { flags.insert(.marker) }
            let payload = [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: 100)
            payload.withUnsafeBytes {
                pool.append(
                    PacketBatch.Packet(
                        offset: 0, length: 0, timestamp: timestamp, sequenceNumber: next, payloadType: 96,
                        flags: flags), payload: $0)
            }
            next &+= 1
        }
        guard let batch = pool.finish(arrival: now) else { preconditionFailure("a frame has packets") }
        return TappedBatch(
            batch: batch, firstPacket: 0, firstSequence: Int64(first) + (first < 60_000 ? 65_536 : 0),
            timestampOffset: 0, capture: now)
    }

    /// Loses packets of the source.
    mutating func lose(_ count: UInt16) { next &+= count }
}

let video = TrackDescription(
    kind: .video, codec: MediaCodec(name: "H264", clockRate: 90_000), payloadType: 96)
