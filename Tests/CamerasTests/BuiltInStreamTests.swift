import Codecs
import RTP
import SDP
import Testing
import Transport

@testable import Cameras

@Suite struct BuiltInStreamTests {
    /// 2026-11-20 12:00:00 UTC, in microseconds.
    private static let noon: UInt64 = 1_795_176_000_000_000
    private static let start = Instant(nanoseconds: 5_000_000_000)

    private static func stream(_ configuration: BuiltInCamera.Configuration) throws -> BuiltInStream {
        var random = RandomSource.seeded(1)
        return try BuiltInStream(configuration: configuration, random: &random, start: start)
    }

    /// For what does not depend on the picture: a sixteenth of the work.
    private static let small = BuiltInCamera.Configuration(name: "Test", width: 160, height: 90)

    /// Runs for `seconds` of virtual time, waking up at each deadline; `perform` is called before each step.
    private static func run(
        seconds: Double, configuration: BuiltInCamera.Configuration = small,
        perform: (inout BuiltInStream, _ elapsed: Double) -> Void = { _, _ in }
    ) throws -> CollectingSink.Collection {
        let sink = CollectingSink()
        let inlets = sink.open(BuiltInStream.tracks)
        var stream = try stream(configuration)
        let end = start + .milliseconds(Int64(seconds * 1000))
        while stream.nextDeadline < end {
            let now = stream.nextDeadline
            let elapsed = (now - start).inSeconds
            perform(&stream, elapsed)
            try stream.advance(
                to: now, wallClock: noon + UInt64(elapsed * 1e6), speakerLevel: nil, inlets: inlets, sink: sink,
                clock: { now + .milliseconds(2) })
        }
        return sink.collected
    }

    @Test func everyPictureCanBeDecodedAndSaysItsNumberAndTime() throws {
        let collected = try Self.run(seconds: 2, configuration: .init(name: "Test"))
        var decoder = try VP8Decoder()
        var stamps: [TestPictureStamp] = []
        for frame in collected.frames {
            let picture = try #require(try decoder.decode(frame.bytes))
            #expect(picture.width == 640 && picture.height == 360)
            stamps.append(try #require(TestPictureReader.read(picture)))
        }
        #expect(stamps.map(\.frameNumber) == Array(0..<30))
        for (index, stamp) in stamps.enumerated() {
            let expected = Self.noon + UInt64(index) * 1_000_000 / 15
            #expect(abs(Int64(stamp.captureTime) - Int64(expected)) <= 2)
        }
    }

    @Test func packetsFollowOneAnotherWithoutGaps() throws {
        let collected = try Self.run(seconds: 2, configuration: .init(name: "Test"))
        for track in 0...1 {
            let packets = collected.packets(of: track)
            for (previous, next) in zip(packets, packets.dropFirst()) {
                #expect(next.header.sequenceNumber == previous.header.sequenceNumber &+ 1)
            }
        }
        let video = collected.frames.map(\.timestamp)
        #expect(zip(video, video.dropFirst()).allSatisfy { $1 &- $0 == 6000 })
        let audio = collected.packets(of: 1).map(\.header.timestamp)
        #expect(audio.count == 99)
        #expect(zip(audio, audio.dropFirst()).allSatisfy { $1 &- $0 == 960 })
        #expect(collected.batches == 30 + 99)
        #expect(collected.packets.allSatisfy { $0.payload.count <= PayloadLimit.standard })
        #expect(collected.packets(of: 0).allSatisfy { $0.header.payloadType == 96 })
        #expect(collected.packets(of: 1).allSatisfy { $0.header.payloadType == 111 })
    }

    @Test func flagsMarkWhereFramesBeginAndEnd() throws {
        let collected = try Self.run(seconds: 1, configuration: .init(name: "Test"))
        let video = collected.packets(of: 0)
        for (packet, next) in zip(video, video.dropFirst()) {
            #expect(packet.header.flags.contains(.marker) == (next.header.timestamp != packet.header.timestamp))
            #expect(next.header.flags.contains(.startsFrame) == (next.header.timestamp != packet.header.timestamp))
            #expect(
                packet.header.flags.contains([.keyFrame, .startsFrame])
                    == packet.payload.withUnsafeBytes { VP8.isKeyFrameStart(payload: $0) })
        }
        let audio = collected.packets(of: 1)
        #expect(audio.allSatisfy { $0.header.flags.contains(.startsFrame) })
        #expect(audio.filter { $0.header.flags.contains(.marker) }.count == 1)
    }

    @Test func aKeyFrameComesEveryFourSecondsAndWhenAskedFor() throws {
        let plain = try Self.run(seconds: 9).frames
        #expect(plain.indices.filter { plain[$0].isKeyFrame } == [0, 60, 120])
        var isAsked = false
        let asked = try Self.run(seconds: 7) { stream, elapsed in
            if elapsed > 1.99, !isAsked {
                isAsked = true
                stream.requestKeyFrame()
            }
        }.frames
        // The interval starts again at the key frame that was requested.
        #expect(asked.indices.filter { asked[$0].isKeyFrame } == [0, 30, 90])
    }

    @Test func theBeepSoundsInTheFirstQuarterOfEachSecondOfTheWallClock() throws {
        let sound = try Self.run(
            seconds: 3.1, configuration: .init(name: "Test", width: 160, height: 90, toneFrequency: 700)
        ).sound()
        // The stream starts at a full second; Opus delays what it codes by less than 10 ms.
        for second in 0..<3 {
            let beep = Array(sound[(second * 48_000 + 2400)..<(second * 48_000 + 10_000)])
            #expect(ToneDetector.share(of: 700, in: beep, sampleRate: 48_000) > 0.9)
            let quiet = sound[(second * 48_000 + 14_400)..<(second * 48_000 + 47_000)]
            #expect((quiet.map { abs(Int($0)) }.max() ?? 0) < 200)
        }
    }

    @Test func theDoorbellIsHeardAfterAPress() throws {
        var isPressed = false
        let sound = try Self.run(seconds: 3) { stream, elapsed in
            if elapsed >= 0.5, !isPressed {
                isPressed = true
                stream.ring(at: Self.start + .milliseconds(500))
            }
        }.sound()
        let ding = Array(sound[26_400..<40_000])
        #expect(ToneDetector.share(of: 659.25, in: ding, sampleRate: 48_000) > 0.6)
        let dong = Array(sound[62_400..<76_800])
        #expect(ToneDetector.share(of: 523.25, in: dong, sampleRate: 48_000) > 0.6)
    }

    @Test func senderReportsPutBothTracksOnOneClock() throws {
        let collected = try Self.run(seconds: 5)
        var offsets: [Int: [Double]] = [:]
        for case .senderReport(let track, let ntp, let timestamp) in collected.events {
            let first = try #require(collected.packets(of: track).first?.header.timestamp)
            let rate = track == 0 ? 90_000.0 : 48_000
            let wallClock = Double(NTPTimestamp(rawValue: ntp).unixNanoseconds - Int64(Self.noon) * 1000) / 1e9
            // When the first packet's timestamp was, by this report.
            offsets[track, default: []].append(wallClock - Double(timestamp &- first) / rate)
        }
        #expect(offsets[0]?.count == 5 && offsets[1]?.count == 5)
        // The first picture and the first sample of sound were taken at noon.
        for offset in offsets.values.joined() {
            #expect(abs(offset) < 0.000_01)
        }
    }

    @Test func picturesThatAreTooLateAreSkippedAndTimestampsKeepTheirGrid() throws {
        let sink = CollectingSink()
        let inlets = sink.open(BuiltInStream.tracks)
        var stream = try Self.stream(Self.small)
        for milliseconds in [0, 20, 40, 60, 80, 1000, 1020] as [Int64] {
            let now = Self.start + .milliseconds(milliseconds)
            try stream.advance(
                to: now, wallClock: Self.noon + UInt64(milliseconds) * 1000, speakerLevel: nil, inlets: inlets,
                sink: sink,
                clock: { now })
        }
        let frames = sink.collected.frames
        #expect(frames.map { ($0.timestamp &- frames[0].timestamp) / 6000 } == [0, 1, 15])
        let audio = sink.collected.packets(of: 1)
        // Four in time; after the pause the newest and the one after it.
        #expect(audio.map { ($0.header.timestamp &- audio[0].header.timestamp) / 960 } == [0, 1, 2, 3, 49, 50])
        #expect(zip(audio, audio.dropFirst()).allSatisfy { $1.header.sequenceNumber == $0.header.sequenceNumber &+ 1 })
    }

    /// Whether a packet of 20 ms in one frame carries the one before it: the packet is SILK or hybrid, and its flag of
    /// low-bit-rate redundancy is set (RFC 6716, sections 3.1 and 4.2.3: after one flag of voice activity).
    private static func isRedundant(_ payload: [UInt8]) -> Bool {
        guard payload.count > 1, payload[0] >> 3 < 16, payload[0] & 3 == 0 else { return false }
        return payload[1] & 0x40 != 0
    }

    @Test func theSoundAnnouncesRedundancyOnlyIfItsPacketsCarryIt() throws {
        let packets = try Self.run(seconds: 3).packets(of: 1)
        let carries = packets.contains { Self.isRedundant($0.payload) }
        let announced = BuiltInStream.tracks[BuiltInStream.audioTrack].codec.formatParameters["useinbandfec"]
        #expect(carries == (announced == "1"))
    }

    @Test func theVideoStaysBelowItsBitRate() throws {
        let collected = try Self.run(seconds: 6, configuration: .init(name: "Test"))
        let bits = collected.packets(of: 0).reduce(0) { $0 + $1.payload.count * 8 }
        #expect((150_000...550_000).contains(bits / 6))
    }

    @Test func impossibleSettingsAreAnError() {
        #expect(throws: CodecError.self) {
            _ = try Self.stream(.init(name: "Test", width: 0))
        }
    }
}
