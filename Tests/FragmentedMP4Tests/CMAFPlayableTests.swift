import Foundation
import FragmentedMP4
import RTP
import Testing

/// CMAF tracks of all codecs, which FFmpeg makes and FFmpeg and GStreamer read: the whole track, and each segment with
/// the header alone.
@Suite("A CMAF track plays", .enabled(if: FFmpeg.isInstalled)) struct CMAFPlayableTests {
    struct Codec: CustomTestStringConvertible {
        var name: String
        var probed: String
        var arguments: [String]
        var bFrames = false
        var testDescription: String { name + (bFrames ? " with B-frames" : "") }
    }

    static let codecs = [
        Codec(
            name: "H264", probed: "h264",
            arguments: ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-x264-params", "aud=1:bframes=0", "-f", "h264"]),
        Codec(
            name: "H264", probed: "h264",
            arguments: [
                "-c:v", "libx264", "-pix_fmt", "yuv420p", "-x264-params", "aud=1:bframes=2:b-adapt=0:open-gop=0", "-f",
                "h264",
            ], bFrames: true),
        Codec(
            name: "H265", probed: "hevc",
            arguments: [
                "-c:v", "libx265", "-pix_fmt", "yuv420p", "-x265-params",
                "aud=1:bframes=0:repeat-headers=1:log-level=0", "-f", "hevc",
            ]),
        Codec(name: "VP8", probed: "vp8", arguments: ["-c:v", "libvpx", "-auto-alt-ref", "0", "-f", "ivf"]),
        Codec(
            name: "VP9", probed: "vp9",
            arguments: ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-f", "ivf"]),
        Codec(
            name: "AV1", probed: "av1",
            arguments: ["-c:v", "libaom-av1", "-usage", "realtime", "-cpu-used", "8", "-f", "ivf"]),
    ]

    @Test(arguments: codecs, [0, 500]) func pictures(codec: Codec, chunk: Int) throws {
        let raw = try FFmpeg.run(
            "ffmpeg",
            ["-f", "lavfi", "-i", "testsrc=size=320x180:rate=15", "-frames:v", "45", "-g", "15"] + codec.arguments
                + ["-"])
        let frames = Self.frames(raw, of: codec.name)
        #expect(frames.count == 45)
        let first = try #require(frames.first)
        let track = try first.data.withUnsafeBytes { keyFrame throws(MP4Error) in
            try MP4Track(videoCodec: codec.name, clockRate: 90_000, keyFrame: keyFrame)
        }
        let samples = frames.enumerated().map { number, frame in
            var sample = MP4Sample(
                picture: frame.data, isKeyFrame: frame.isKeyFrame, track: track, decodeTime: Int64(number) * 6_000,
                keepsParameterSets: false)
            if codec.bFrames {
                // Groups of 15: one key frame, then P B B in the order of decoding; the last two are P.
                let place = number % 15
                sample.compositionOffset = Int32(Self.shown[place] - place) * 6_000
            }
            return sample
        }
        try Self.expectPlayable(
            samples, track, frames: 45, probed: codec.probed, segments: 3, chunk: .milliseconds(chunk))
    }

    /// The place in display order of each picture of a group of 15, where two B-frames follow each P-frame.
    static let shown = [0, 3, 1, 2, 6, 4, 5, 9, 7, 8, 12, 10, 11, 14, 13]

    @Test(arguments: [0, 500]) func aac(chunk: Int) throws {
        let raw = try FFmpeg.run(
            "ffmpeg",
            [
                "-f", "lavfi", "-i", "sine=frequency=440:duration=3:sample_rate=16000", "-c:a", "aac", "-f", "adts",
                "-",
            ])
        let packets = PlayableCodecsTests.adtsPackets(raw)
        let track = try MP4Track(
            audioCodec: "MPEG4-GENERIC", clockRate: 16_000, channels: 1,
            audioSpecificConfig: AudioSpecificConfig(sampleRate: 16_000, channels: 1).bytes)
        let samples = packets.enumerated().map { MP4Sample(data: $1, decodeTime: Int64($0) * 1_024, isKeyFrame: true) }
        try Self.expectPlayable(
            samples, track, frames: packets.count, probed: "aac", segments: nil, chunk: .milliseconds(chunk))
    }

    @Test(arguments: [0, 500]) func opus(chunk: Int) throws {
        let packets = PlayableFileTests.oggPackets(
            try FFmpeg.run(
                "ffmpeg",
                [
                    "-f", "lavfi", "-i", "sine=frequency=440:duration=3:sample_rate=48000", "-c:a", "libopus", "-f",
                    "ogg", "-",
                ]))
        let samples = packets.enumerated().map { MP4Sample(data: $1, decodeTime: Int64($0) * 960, isKeyFrame: true) }
        let track = try MP4Track(audioCodec: "opus", clockRate: 48_000, channels: 2)
        try Self.expectPlayable(
            samples, track, frames: packets.count, probed: "opus", segments: nil, chunk: .milliseconds(chunk))
    }

    private static func expectPlayable(
        _ samples: [MP4Sample], _ track: MP4Track, frames: Int, probed: String, segments expected: Int?,
        chunk: Duration
    ) throws {
        let (header, chunks, segments) = try CMAFTrackWriterTests.write(
            samples, to: track, segment: .seconds(1), chunk: chunk)
        if let expected { #expect(segments.count == expected) }
        let file = header + chunks.flatMap(\.bytes)
        let report = try FFmpeg.probe(file)
        #expect(report.contains("codec_name=\(probed)\n"))
        #expect(report.contains("nb_read_frames=\(frames)\n"))
        #expect(try FFmpeg.complaints(about: file) == "")
        try expectGStreamerReads(file)
        // A later segment can be played without those before it.
        for segment in segments where segment.number > 1 {
            let alone = header + chunks.filter { $0.segment == segment.number }.flatMap(\.bytes)
            #expect(try FFmpeg.complaints(about: alone) == "")
        }
    }

    private static func expectGStreamerReads(_ file: [UInt8]) throws {
        let program = "/usr/bin/gst-launch-1.0"
        guard FileManager.default.isExecutableFile(atPath: program) else { return }
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString).mp4")
        defer { try? FileManager.default.removeItem(at: url) }
        try Data(file).write(to: url)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["-q", "filesrc", "location=\(url.path)", "!", "qtdemux", "!", "fakesink"]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(said)")
        #expect(!said.contains("WARN") && !said.contains("ERROR"), "\(said)")
    }

    private static func frames(_ raw: [UInt8], of codec: String) -> [(data: [UInt8], isKeyFrame: Bool)] {
        switch codec {
        case "H264":
            PlayableFileTests.accessUnits(raw).map { frame in
                (frame, PlayableFileTests.units(frame).contains { $0[0] & 31 == 5 })
            }
        case "H265":
            PlayableFileTests.accessUnits(raw) { H265.type($0) == H265.UnitType.accessUnitDelimiter }.map { frame in
                (frame, PlayableFileTests.units(frame).contains { H265.isRandomAccessPoint(H265.type($0[0])) })
            }
        case "VP8": PlayableFileTests.ivfFrames(raw).map { ($0, $0[0] & 1 == 0) }
        case "VP9":
            PlayableFileTests.ivfFrames(raw).map { frame in
                (frame, frame.withUnsafeBytes { VP9.isKeyFrame($0) })
            }
        default:
            PlayableFileTests.ivfFrames(raw).map { Array($0.starts(with: [0x12, 0]) ? $0.dropFirst(2) : $0[...]) }
                .map { frame in (frame, frame.withUnsafeBytes { AV1.isKeyFrame($0) }) }
        }
    }
}
