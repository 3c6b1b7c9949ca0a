import Codecs
import MediaRelay
import RTP
import SDP
import StationFakes
import Testing
import Transport

@testable import Stations

/// Real streams of x264 and x265, and Motion JPEG, are transcoded to VP8.
@Suite struct VideoTranscodingTests {
    /// The result of transcoding a camera's pictures: the packets, and the brightness of each picture that a viewer
    /// sees.
    private struct Result {
        var packets: [PacketBatch.Packet] = []
        var shown: [(timestamp: UInt32, brightness: Int)] = []
        var counters = TranscodingCounters()
    }

    private static func transcode(
        _ pictures: [CodedPictures.Coded], _ codec: MediaCodec, isBehind: (Int) -> Bool = { _ in false },
        keyFrameAt: Int? = nil, restartAt: Int? = nil
    ) throws -> Result {
        var transcoding = try VideoTranscoding(codec: codec, firstPictureID: 7, firstSequenceNumber: 65_533)
        var viewer = try PictureReader(codec: .vp8)
        var (source, made) = (TapFeed(), TapFeed())
        var result = Result()
        let batches = CodedPictures.batches(pictures) { .zero + .milliseconds(67 * $0) }
        for (number, batch) in batches.enumerated() {
            if number == keyFrameAt { transcoding.requestKeyFrame() }
            if number == restartAt { try transcoding.restart() }
            let output = try transcoding.transcode(source.tapped(batch), isBehind: isBehind(number))
            guard let batch = output.batch else { continue }
            result.packets += batch.packets
            viewer.read(made.tapped(batch)) { picture in
                // Most of the picture is flat. A bar as high as the picture moves across it.
                let luma = picture.frame.luma.sorted()
                result.shown.append((picture.timestamp, Int(luma[luma.count / 2])))
            }
        }
        result.counters = transcoding.counters
        return result
    }

    @Test(arguments: [("H264", true), ("H265", false), ("H265", true), ("JPEG", false)])
    func everyPictureIsShownInOrder(name: String, hasBFrames: Bool) throws {
        let pictures =
            switch name {
            case "H264": try CodedPictures.h264()
            case "H265": try hasBFrames ? CodedPictures.h265WithBFrames() : CodedPictures.h265()
            default: try CodedPictures.jpeg()
            }
        let result = try Self.transcode(pictures, MediaCodec(name: name, clockRate: 90_000))
        // The decoder keeps some pictures back until those that are shown before them have arrived.
        #expect(result.shown.count >= CodedPictures.count - 3 && result.counters.failures == 0)
        #expect(result.counters.packets == UInt64(result.shown.count))
        for (place, picture) in result.shown.enumerated() {
            #expect(picture.timestamp == UInt32(900_000 + place * 6_000), "timestamps rise with the order of showing")
            let expected = CodedPictures.brightness(place)
            #expect(abs(picture.brightness - expected) < 8, "\(name) \(place): \(picture.brightness), not \(expected)")
        }
        // The sequence numbers are continuous, a key frame comes first, and a marker ends each picture.
        for (one, next) in zip(result.packets, result.packets.dropFirst()) {
            #expect(next.sequenceNumber == one.sequenceNumber &+ 1)
        }
        #expect(result.packets.first?.flags.contains([.startsFrame, .keyFrame]) == true)
        #expect(result.packets.count { $0.flags.contains(.marker) } == result.shown.count)
        #expect(result.packets.count { $0.flags.contains([.startsFrame, .keyFrame]) } == 1)
    }

    @Test func aKeyFrameIsMadeWhenAViewerAsks() throws {
        let result = try Self.transcode(
            try CodedPictures.h265(), MediaCodec(name: "H265", clockRate: 90_000), keyFrameAt: 6)
        let keyFrames = result.packets.filter { $0.flags.contains([.startsFrame, .keyFrame]) }.map(\.timestamp)
        #expect(keyFrames == [900_000, 900_000 + 6 * 6_000])
    }

    @Test func anEncoderThatIsBehindSkipsPicturesAndContinues() throws {
        let result = try Self.transcode(
            try CodedPictures.h265(), MediaCodec(name: "H265", clockRate: 90_000), isBehind: { (3..<8).contains($0) })
        #expect(result.counters.skipped == 5)
        #expect(result.shown.map { ($0.timestamp - 900_000) / 6_000 } == [0, 1, 2, 8, 9, 10, 11])
        for picture in result.shown {
            let place = Int(picture.timestamp - 900_000) / 6_000
            #expect(abs(picture.brightness - CodedPictures.brightness(place)) < 8)
        }
    }

    @Test func afterALossNothingIsShownBeforeTheNextKeyFrame() throws {
        let pictures = try CodedPictures.h265()
        let again = pictures.map { CodedPictures.Coded(place: $0.place + 12, payloads: $0.payloads) }
        let result = try Self.transcode(
            pictures + again, MediaCodec(name: "H265", clockRate: 90_000), restartAt: 4)
        #expect(result.shown.map { ($0.timestamp - 900_000) / 6_000 } == [0, 1, 2, 3] + Array(12..<24))
    }

    @Test func aCodecThatCannotBeDecodedIsNamed() throws {
        #expect(throws: CodecError.self) {
            _ = try VideoTranscoding(
                codec: MediaCodec(name: "MP4V-ES", clockRate: 90_000), firstPictureID: 0, firstSequenceNumber: 0)
        }
    }

    @Test func garbageIsCountedAndNeverTraps() throws {
        var random = RandomSource.seeded(11)
        let codec = MediaCodec(name: "H264", clockRate: 90_000)
        var damaged: [CodedPictures.Coded] = []
        for _ in 0..<40 {
            for var picture in try CodedPictures.h264() {
                for index in picture.payloads.indices where random.next() % 3 == 0 {
                    let place = Int(random.next() % UInt64(picture.payloads[index].count))
                    picture.payloads[index][place] = UInt8(truncatingIfNeeded: random.next())
                }
                damaged.append(picture)
            }
        }
        let result = try Self.transcode(damaged, codec)
        #expect(result.counters.packets > 0)
    }

    @Test func theCostIsStatedInWords() {
        var cost = TranscodingCost(source: "H265", result: "VP8", users: 2, processorTime: .seconds(3))
        #expect(cost.words == nil)
        cost.share = 0.344
        #expect(cost.words == "transcoding H265 to VP8 takes 34 % of a processor core, shared by 2 viewers")
        cost.users = 1
        cost.share = 0.0041
        #expect(cost.words == "transcoding H265 to VP8 takes 0.4 % of a processor core")
        var share = ProcessorShare(since: .zero)
        share.record(.milliseconds(100), at: .zero + .milliseconds(500))
        #expect(share.share == nil)
        share.record(.milliseconds(100), at: .zero + .seconds(1))
        #expect(share.share == 0.2)
        share.record(.milliseconds(300), at: .zero + .seconds(5))
        #expect(share.share == 0.1)
        // The next window starts again.
        for second in 6...10 { share.record(.milliseconds(500), at: .zero + .seconds(second)) }
        #expect(share.share == 0.5)
    }
}

/// Gives batches continuous numbers, as the relay does for its taps.
struct TapFeed {
    private var next: Int64 = 0
    private var last: UInt16?

    mutating func tapped(_ batch: PacketBatch) -> TappedBatch {
        let first = batch.packets[0].sequenceNumber
        next += Int64(first &- (last ?? first))
        last = first
        return TappedBatch(
            batch: batch, firstPacket: 0, firstSequence: next, timestampOffset: 0, capture: batch.arrival)
    }
}
