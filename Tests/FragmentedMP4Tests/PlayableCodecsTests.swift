import Foundation
import FragmentedMP4
import RTP
import Testing

/// Files of the codecs that cameras send, described by what they send first. FFmpeg makes the streams and reads the files.
@Suite(.enabled(if: FFmpeg.isInstalled)) struct PlayableCodecsTests {
    private static let pictures = ["-f", "lavfi", "-i", "testsrc=size=320x180:rate=15", "-frames:v", "30", "-g", "15"]

    @Test func h265Plays() throws {
        let raw = try FFmpeg.run(
            "ffmpeg",
            Self.pictures + [
                "-c:v", "libx265", "-pix_fmt", "yuv420p", "-x265-params",
                "aud=1:bframes=0:repeat-headers=1:log-level=0",
                "-f", "hevc", "-",
            ])
        let frames = PlayableFileTests.accessUnits(raw) { H265.type($0) == H265.UnitType.accessUnitDelimiter }
        #expect(frames.count == 30)
        try Self.expect(
            "hevc", named: "H265",
            frames.map { frame in
                (
                    frame,
                    PlayableFileTests.units(frame).contains { H265.isRandomAccessPoint(H265.type($0[0])) }
                )
            })
    }

    @Test func h264Plays() throws {
        let raw = try FFmpeg.run(
            "ffmpeg",
            Self.pictures + [
                "-c:v", "libx264", "-bf", "0", "-pix_fmt", "yuv420p", "-x264-params", "aud=1", "-f", "h264", "-",
            ])
        try Self.expect(
            "h264", named: "h264",
            PlayableFileTests.accessUnits(raw).map { frame in
                (frame, PlayableFileTests.units(frame).contains { $0[0] & 31 == 5 })
            })
    }

    @Test(arguments: [(pixels: "yuv420p", profile: 0), ("yuv422p", 1), ("yuv444p", 1), ("yuv420p10le", 2)])
    func vp9Plays(pixels: String, profile: Int) throws {
        let raw = try FFmpeg.run(
            "ffmpeg",
            Self.pictures + [
                "-c:v", "libvpx-vp9", "-pix_fmt", pixels, "-deadline", "realtime", "-cpu-used", "8", "-f", "ivf", "-",
            ])
        let frames = PlayableFileTests.ivfFrames(raw)
        let first = try #require(frames.first).withUnsafeBytes { VP9.FrameHeader(parsing: $0) }
        let header = try #require(first)
        #expect(header.profile == profile)
        #expect((header.width, header.height) == (320, 180))
        #expect(header.bitDepth == (pixels.contains("10") ? 10 : 8))
        try Self.expect(
            "vp9", named: "VP9",
            frames.map { frame in (frame, frame.withUnsafeBytes { VP9.isKeyFrame($0) }) })
    }

    @Test(arguments: ["yuv420p", "yuv420p10le"])
    func av1Plays(pixels: String) throws {
        let raw = try FFmpeg.run(
            "ffmpeg",
            Self.pictures + [
                "-c:v", "libaom-av1", "-pix_fmt", pixels, "-usage", "realtime", "-cpu-used", "8", "-f", "ivf", "-",
            ])
        // A depacketizer leaves the temporal delimiters out, and so do files.
        let frames = PlayableFileTests.ivfFrames(raw).map {
            Array($0.starts(with: [0x12, 0]) ? $0.dropFirst(2) : $0[...])
        }
        let found = try #require(frames.first).withUnsafeBytes { AV1.SequenceHeader.find(inTemporalUnit: $0)?.header }
        let header = try #require(found)
        #expect((header.width, header.height) == (320, 180))
        #expect(header.bitDepth == (pixels.contains("10") ? 10 : 8))
        #expect(header.isSubsampledHorizontally && header.isSubsampledVertically && !header.isMonochrome)
        try Self.expect(
            "av1", named: "AV1", frames.map { frame in (frame, frame.withUnsafeBytes { AV1.isKeyFrame($0) }) })
    }

    @Test(arguments: [(rate: 8_000, channels: 1), (16_000, 1), (48_000, 2)])
    func aacPlays(rate: Int, channels: Int) throws {
        let raw = try FFmpeg.run(
            "ffmpeg",
            [
                "-f", "lavfi", "-i", "sine=frequency=440:duration=2:sample_rate=\(rate)", "-ac", "\(channels)", "-c:a",
                "aac", "-f", "adts", "-",
            ])
        let packets = Self.adtsPackets(raw)
        #expect(packets.count > 10)
        let configuration = AudioSpecificConfig(sampleRate: rate, channels: channels).bytes
        let track = try MP4Track(
            audioCodec: "MPEG4-GENERIC", clockRate: rate, channels: channels, audioSpecificConfig: configuration)
        let file = try Self.file(
            of: track, packets.enumerated().map { MP4Sample(data: $1, decodeTime: Int64($0) * 1_024, isKeyFrame: true) }
        )
        let report = try FFmpeg.probe(file)
        #expect(report.contains("codec_name=aac"))
        #expect(report.contains("sample_rate=\(rate)"))
        #expect(report.contains("channels=\(channels)"))
        #expect(report.contains("nb_read_frames=\(packets.count)"))
        #expect(try FFmpeg.complaints(about: file) == "")
    }

    @Test(arguments: ["G722", "G726-32", "L16"]) func soundThatMP4CannotHoldIsRefused(name: String) {
        #expect(throws: MP4Error.unsupportedCodec(name, .notForSound)) {
            try MP4Track(audioCodec: name, clockRate: 8_000, channels: 1)
        }
    }

    @Test(arguments: ["H264", "H265", "VP8", "VP9", "AV1", "JPEG"])
    func aKeyFrameThatSaysNothingIsRefused(name: String) {
        for bytes in [
            [], [0], [0, 0, 0, 1, 0x67], [UInt8](repeating: 0xFF, count: 40), [0x0A, 0xFF, 0xFF, 0xFF, 0x7F],
        ] {
            #expect(throws: MP4Error.unsupportedCodec(name, name == "JPEG" ? .notForPictures : .noPictureSize)) {
                try bytes.withUnsafeBytes { keyFrame throws(MP4Error) in
                    try MP4Track(videoCodec: name, clockRate: 90_000, keyFrame: keyFrame)
                }
            }
        }
    }

    /// Writes the frames of a codec into a file, and has FFmpeg read it.
    private static func expect(
        _ codec: String, named name: String, _ frames: [(data: [UInt8], isKeyFrame: Bool)]
    ) throws {
        let first = try #require(frames.first)
        #expect(first.isKeyFrame)
        let track = try first.data.withUnsafeBytes { keyFrame throws(MP4Error) in
            try MP4Track(videoCodec: name, clockRate: 90_000, keyFrame: keyFrame)
        }
        let file = try Self.file(
            of: track,
            frames.enumerated().map { number, frame in
                MP4Sample(
                    picture: frame.data, isKeyFrame: frame.isKeyFrame, track: track, decodeTime: Int64(number) * 6_000)
            })
        let report = try FFmpeg.probe(file)
        #expect(report.contains("codec_name=\(codec)\n"))
        #expect(report.contains("width=320\n"))
        #expect(report.contains("height=180\n"))
        #expect(report.contains("nb_read_frames=\(frames.count)\n"))
        #expect(try FFmpeg.complaints(about: file) == "")
    }

    private static func file(of track: MP4Track, _ samples: [MP4Sample]) throws -> [UInt8] {
        var writer = try FragmentedMP4Writer(tracks: [track])
        var file = writer.initializationSegment
        for sample in samples { file += try writer.append(sample, track: 0) ?? [] }
        return file + (writer.finish() ?? [])
    }

    static func adtsPackets(_ bytes: [UInt8]) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        var offset = 0
        while offset + 7 <= bytes.count {
            let length = Int(bytes[offset + 3] & 3) << 11 | Int(bytes[offset + 4]) << 3 | Int(bytes[offset + 5] >> 5)
            guard length > 7, offset + length <= bytes.count else { break }
            packets.append(Array(bytes[(offset + 7)..<(offset + length)]))
            offset += length
        }
        return packets
    }
}
