import Codecs
import PacketFakes
import RTP
import SDP
import StreamFormats
import Testing
import Transport

@testable import Cameras

struct StreamOutputTests {
    private static let keyFrame: [UInt8] =
        [0, 0, 0, 1, 0x67, 0x42, 0xC0, 30, 1, 0, 0, 0, 1, 0x68, 1, 2, 0, 0, 0, 1, 0x65, 0x88, 4]
    private static let video = StreamTrack(.h264(parameterSets: []))
    private static let audio = StreamTrack(.aac(config: [0x11, 0x88]))

    private static func output(_ sink: RecordingSink) -> StreamOutput {
        StreamOutput(
            sink: sink, findings: SourceFindings(profile: CameraProfile(), profileChanged: nil), random: .system)
    }

    private static func items(_ sink: RecordingSink) async -> [RecordingSink.Item] {
        sink.handle(.state(.stopped))
        return await sink.rest()
    }

    @Test func `Tracks are announced with video first, and packets keep the stream's times`() async throws {
        let sink = RecordingSink()
        var output = Self.output(sink)
        let now = Instant.zero + .seconds(1)
        let sound = StreamUnit(
            track: 0, bytes: [UInt8](repeating: 3, count: 3_000), presentation: 90_000, decoding: 90_000)
        output.take(sound, of: [Self.audio], awaitsTracks: true, at: now, wallClock: 5_000_000_000)
        let picture = StreamUnit(track: 1, bytes: Self.keyFrame, presentation: 96_000, decoding: 93_000)
        output.take(picture, of: [Self.audio, Self.video], awaitsTracks: false, at: now, wallClock: 5_000_000_000)
        let items = await Self.items(sink)
        guard case .event(.tracks(let tracks))? = items.first else {
            Issue.record("the tracks do not come first")
            return
        }
        #expect(tracks.map(\.codec.name) == ["H264", "mpeg4-generic"])
        #expect(tracks.last?.codec.clockRate == 48_000 && tracks.last?.codec.formatParameters["config"] == "1188")
        var found: [Int: [ReceivedPacket]] = [:]
        for case .packets(let packets, let track) in items { found[track, default: []] += packets }
        #expect(found[0]?.first?.timestamp == 96_000 && found[0]?.last?.flags.contains(.marker) == true)
        // A frame of sound that is longer than a datagram comes in fragments (RFC 3640).
        #expect(
            found[1]?.count == 3
                && found[1]?.allSatisfy { $0.timestamp == 48_000 && $0.payload.starts(with: [0, 16]) } == true)
        #expect(items.contains(.event(.state(.flowing))))
        // The profile that the stream states is learned from its first key frame.
        let learned = items.compactMap { item -> String? in
            guard case .event(.tracks(let tracks)) = item else { return nil }
            return tracks[0].codec.formatParameters["profile-level-id"]
        }
        #expect(learned == ["42c01e"])
    }

    @Test func `Times as far apart as a demuxer passes on harm nothing`() async {
        let sink = RecordingSink()
        var output = Self.output(sink)
        let far: Int64 = (1 << 50) * 90
        for (index, time) in [0, far, -far, far, 0, -far].enumerated() {
            for awaitsTracks in [true, false] {
                let unit = StreamUnit(track: 0, bytes: Self.keyFrame, presentation: time, decoding: time)
                output.take(
                    unit, of: [Self.video], awaitsTracks: awaitsTracks, at: .zero + .seconds(2 * index),
                    wallClock: index.isMultiple(of: 2) ? .max : 0)
            }
        }
        let items = await Self.items(sink)
        #expect(items.contains { if case .packets = $0 { true } else { false } })
    }

    @Test func `A camera that has announced sound and sends none is shown`() async {
        let sink = RecordingSink()
        var output = Self.output(sink)
        let now = Instant.zero + .seconds(1)
        for index in 0..<Int64(20) {
            output.take(
                StreamUnit(track: 0, bytes: Self.keyFrame, presentation: index * 9000, decoding: index * 9000),
                of: [Self.video], awaitsTracks: true, at: now + .milliseconds(index * 100), wallClock: 0)
        }
        let packets = await Self.items(sink).filter { if case .packets = $0 { true } else { false } }
        #expect(packets.count >= 20)
    }

    @Test func `Units without a new time do not wait without end for a picture that was announced`() async {
        let sink = RecordingSink()
        var output = Self.output(sink)
        let sound = StreamUnit(track: 0, bytes: [1], presentation: 0, decoding: 0)
        for _ in 0..<2_000 {
            output.take(sound, of: [Self.audio], awaitsTracks: true, at: .zero + .seconds(1), wallClock: 0)
        }
        let isAnnounced = await Self.items(sink).contains { if case .event(.tracks(_)) = $0 { true } else { false } }
        #expect(isAnnounced)
    }

    @Test func `Recorded buffers of a device become a track, and damaged ones are passed over`() async throws {
        let frame = I420Frame(width: 64, height: 48)
        let jpeg = try JPEGEncoder.encode(frame, quality: 60)
        for (format, buffer) in [(VideoDeviceAddress.Format.mjpeg, jpeg), (.h264, Self.keyFrame)] {
            let sink = RecordingSink()
            var frames = DeviceFrames(
                format, framesPerSecond: 30, sink: sink,
                findings: SourceFindings(profile: CameraProfile(), profileChanged: nil), random: .system)
            for index in 0..<Int64(5) {
                let now = Instant.zero + .milliseconds(1_000 + index * 100)
                let bytes = index == 2 ? [] : index == 3 && format == .mjpeg ? Array(buffer.prefix(40)) : buffer
                var failure: CameraFailure?
                bytes.withUnsafeBytes { raw in
                    do throws(CameraFailure) {
                        try frames.take(raw, time: 1_000_000 + index * 100_000, at: now, wallClock: 0)
                    } catch {
                        failure = error
                    }
                }
                #expect(failure == nil)
            }
            var stamps: [UInt32] = []
            for case .packets(let packets, 0) in await Self.items(sink) { stamps += packets.prefix(1).map(\.timestamp) }
            #expect(stamps.count == (format == .mjpeg ? 3 : 4))
            #expect(zip(stamps, stamps.dropFirst()).allSatisfy { (8_000...28_000).contains($1 &- $0) })
        }
    }
}
