import RTP
import SDP
import Transport

@testable import Cameras

/// One packet of a batch with a copy of its payload.
struct ReceivedPacket: Equatable {
    var sequenceNumber: UInt16
    var timestamp: UInt32
    var flags: PacketBatch.Flags
    var payload: [UInt8]
}

/// An RTP packet as a camera sends it.
func rtpPacket(
    _ sequenceNumber: Int, timestamp: UInt32, payloadType: UInt8 = 96, marker: Bool = false, ssrc: UInt32 = 7,
    _ payload: [UInt8]
) -> [UInt8] {
    let number = UInt16(truncatingIfNeeded: sequenceNumber)
    var bytes: [UInt8] = [0x80, payloadType | (marker ? 0x80 : 0), UInt8(number >> 8), UInt8(number & 0xFF)]
    for value in [timestamp, ssrc] {
        for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }
    return bytes + payload
}

/// A track and the batches that it has handed out.
final class TrackHarness {
    var track: IncomingTrack
    var now = Instant.zero
    private let collected: Collected

    private final class Collected {
        var batches: [[ReceivedPacket]] = []
    }

    init(_ codec: MediaCodec, parameterSets: [[UInt8]] = [], limit: Int = PayloadLimit.standard) {
        let description = CameraDescription.Track(
            description: TrackDescription(kind: .video, codec: codec, payloadType: 96),
            format: IncomingTrack.Format(codec) ?? .sound, controlURI: "",
            parameterSets: parameterSets)
        let collected = Collected()
        self.collected = collected
        track = IncomingTrack(
            description, firstSequenceNumber: 1000, limit: limit
        ) { batch in
            collected.batches.append(
                batch.packets.map {
                    ReceivedPacket(
                        sequenceNumber: $0.sequenceNumber, timestamp: $0.timestamp, flags: $0.flags,
                        payload: Array(batch.payload(of: $0)))
                })
        }
    }

    static let h264 = MediaCodec(name: "H264", clockRate: 90_000)
    static let h265 = MediaCodec(name: "H265", clockRate: 90_000)
    static let av1 = MediaCodec(name: "AV1", clockRate: 90_000)
    static let vp9 = MediaCodec(name: "VP9", clockRate: 90_000)
    static let jpeg = MediaCodec(name: "JPEG", clockRate: 90_000)
    static let vp8 = MediaCodec(name: "VP8", clockRate: 90_000)

    /// Feeds one packet.
    @discardableResult
    func receive(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { track.receive($0, at: now) }
    }

    /// Feeds thousands of packets that begin as given and go on at random, with losses, leaps of time and old numbers.
    func receiveGarbage(beginningWith starts: [[UInt8]], seed: UInt64) {
        var random = RandomSource.seeded(seed)
        var number = 0
        var timestamp: UInt32 = 0
        for _ in 0..<4000 {
            number += Int.random(in: 0..<20, using: &random) == 0 ? Int.random(in: -200...4000, using: &random) : 1
            if Int.random(in: 0..<4, using: &random) == 0 {
                timestamp = UInt32.random(in: 0...UInt32.max, using: &random)
            }
            now = now + .milliseconds(Int.random(in: 0...20, using: &random))
            let start = starts[Int.random(in: 0..<starts.count, using: &random)]
            let rest = (0..<Int.random(in: 0..<500, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            receive(rtpPacket(number, timestamp: timestamp, marker: Bool.random(using: &random), start + rest))
        }
    }

    /// What came out, in batches.
    func batches() -> [[ReceivedPacket]] {
        track.flush(at: now)
        defer { collected.batches.removeAll() }
        return collected.batches
    }

    /// What came out.
    func packets() -> [ReceivedPacket] { batches().flatMap { $0 } }
}
