import PacketFakes
import RTP
import SDP
import Transport

@testable import Intake

/// A track and the batches that it has handed out.
final class TrackHarness {
    var track: IncomingTrack
    var now = Instant.zero
    private let collected: Collected

    private final class Collected: PacketInlet {
        let batches = Locked<[[ReceivedPacket]]>([])

        func deliver(_ batch: PacketBatch) {
            let packets = batch.packets.map {
                ReceivedPacket(
                    sequenceNumber: $0.sequenceNumber, timestamp: $0.timestamp, flags: $0.flags,
                    payload: Array(batch.payload(of: $0)))
            }
            batches.withLock { $0.append(packets) }
        }
    }

    init(_ codec: MediaCodec, parameterSets: [[UInt8]] = [], limit: Int = PayloadLimit.everyPath) {
        let description = IncomingTrack.Description(
            format: IncomingTrack.Format(codec) ?? .sound, clockRate: codec.clockRate, payloadType: 96,
            parameterSets: parameterSets)
        let collected = Collected()
        self.collected = collected
        track = IncomingTrack(
            description, firstSequenceNumber: 1000, limit: limit, inlet: collected)
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

    /// Feeds thousands of packets that begin as given and continue at random, with losses, jumps in time and old
    /// numbers.
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

    /// How many packets each batch has that was handed out and not looked at yet.
    var delivered: [Int] { collected.batches.withLock { $0.map(\.count) } }

    /// The output, in batches.
    func batches() -> [[ReceivedPacket]] {
        track.flush(at: now)
        return collected.batches.withLock { batches in
            defer { batches.removeAll() }
            return batches
        }
    }

    /// The output.
    func packets() -> [ReceivedPacket] { batches().flatMap { $0 } }
}
