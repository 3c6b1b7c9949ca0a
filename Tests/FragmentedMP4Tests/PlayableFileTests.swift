import Foundation
import FragmentedMP4
import Testing

/// Files that FFmpeg has to read. The tests are skipped where its programs are not installed.
@Suite(.enabled(if: FFmpeg.isInstalled)) struct PlayableFileTests {
    @Test func h264AndMuLawPlay() throws {
        let raw = try FFmpeg.run(
            "ffmpeg",
            [
                "-f", "lavfi", "-i", "testsrc=size=320x180:rate=15", "-frames:v", "45", "-c:v", "libx264", "-bf", "0",
                "-g", "15", "-pix_fmt", "yuv420p", "-x264-params", "aud=1", "-f", "h264", "-",
            ])
        let frames = Self.accessUnits(raw)
        #expect(frames.count == 45)
        let units = frames.flatMap(Self.units)
        let track = MP4Track(
            codec: .h264(
                width: 320, height: 180, sequenceParameterSets: [try #require(units.first { $0[0] & 31 == 7 })],
                pictureParameterSets: [try #require(units.first { $0[0] & 31 == 8 })]),
            timescale: 90_000)
        let file = try Self.record(
            video: track, frames.map { ($0, Self.units($0).contains { $0[0] & 31 == 5 }) },
            convert: { MP4Sample.lengthPrefixed(annexB: $0) },
            sound: MP4Track(codec: .muLaw(channels: 1), timescale: 8_000),
            samplesPerPacket: 160, packets: (0..<150).map { _ in [UInt8](repeating: 0xD5, count: 160) })
        let report = try FFmpeg.probe(file)
        #expect(report.contains("codec_name=h264"))
        #expect(report.contains("codec_name=pcm_mulaw"))
        #expect(report.contains("nb_read_frames=45"))
        #expect(report.contains("width=320"))
        #expect(report.contains("sample_rate=8000"))
        #expect(try FFmpeg.complaints(about: file) == "")
    }

    @Test func vp8AndOpusPlay() throws {
        let raw = try FFmpeg.run(
            "ffmpeg",
            [
                "-f", "lavfi", "-i", "testsrc=size=320x180:rate=15", "-frames:v", "45", "-c:v", "libvpx", "-g", "15",
                "-deadline", "realtime", "-auto-alt-ref", "0", "-f", "ivf", "-",
            ])
        let frames = Self.ivfFrames(raw)
        #expect(frames.count == 45)
        let opus = Self.oggPackets(
            try FFmpeg.run(
                "ffmpeg",
                [
                    "-f", "lavfi", "-i", "sine=frequency=440:duration=3:sample_rate=48000", "-c:a", "libopus", "-f",
                    "ogg",
                    "-",
                ]))
        #expect(opus.count > 140)
        let file = try Self.record(
            video: MP4Track(codec: .vp8(width: 320, height: 180), timescale: 90_000),
            frames.map { ($0, $0[0] & 1 == 0) }, convert: { $0 },
            sound: MP4Track(codec: .opus(channels: 1, preSkip: 312), timescale: 48_000), samplesPerPacket: 960,
            packets: opus)
        let report = try FFmpeg.probe(file)
        #expect(report.contains("codec_name=vp8"))
        #expect(report.contains("codec_name=opus"))
        #expect(report.contains("nb_read_frames=45"))
        #expect(report.contains("nb_read_frames=\(opus.count)"))
        #expect(try FFmpeg.complaints(about: file) == "")
    }

    @Test func aLawPlaysAndAFileCutOffAnywherePlaysUpToThere() throws {
        let track = MP4Track(codec: .aLaw(channels: 1), timescale: 8_000)
        var writer = try FragmentedMP4Writer(tracks: [track], fragmentDuration: .milliseconds(500))
        var file = writer.initializationSegment
        for number in 0..<100 {
            let sample = MP4Sample(
                data: [UInt8](repeating: 0x55, count: 160), decodeTime: Int64(number) * 160, isKeyFrame: true)
            file += try writer.append(sample, track: 0) ?? []
        }
        let report = try FFmpeg.probe(Array(file.dropLast(1_000)))
        #expect(report.contains("codec_name=pcm_alaw"))
        #expect(!report.contains("nb_read_frames=N/A"))
    }

    /// Writes a recording of both tracks in the order of time.
    static func record(
        video: MP4Track, _ frames: [([UInt8], Bool)], convert: ([UInt8]) -> [UInt8], sound: MP4Track,
        samplesPerPacket: Int64, packets: [[UInt8]]
    ) throws -> [UInt8] {
        var writer = try FragmentedMP4Writer(tracks: [video, sound])
        var file = writer.initializationSegment
        var nextPacket = 0
        for (index, frame) in frames.enumerated() {
            let sample = MP4Sample(data: convert(frame.0), decodeTime: Int64(index) * 6_000, isKeyFrame: frame.1)
            file += try writer.append(sample, track: 0) ?? []
            while nextPacket < packets.count, nextPacket * 15 <= (index + 1) * 50 {
                let packet = MP4Sample(
                    data: packets[nextPacket], decodeTime: Int64(nextPacket) * samplesPerPacket, isKeyFrame: true)
                file += try writer.append(packet, track: 1) ?? []
                nextPacket += 1
            }
        }
        #expect(nextPacket == packets.count)
        return file + (writer.finish() ?? [])
    }

    /// NAL units by their start codes.
    static func units(_ bytes: [UInt8]) -> [[UInt8]] {
        var units: [[UInt8]] = []
        var start: Int?
        for index in 0..<max(0, bytes.count - 2)
        where bytes[index] == 0 && bytes[index + 1] == 0 && bytes[index + 2] == 1 {
            if let start { units.append(Self.trimmed(bytes[start..<index])) }
            start = index + 3
        }
        if let start { units.append(Self.trimmed(bytes[start...])) }
        return units
    }

    private static func trimmed(_ unit: ArraySlice<UInt8>) -> [UInt8] {
        var unit = unit
        while unit.last == 0 { unit.removeLast() }
        return Array(unit)
    }

    /// Frames by their access unit delimiters.
    static func accessUnits(
        _ bytes: [UInt8], isDelimiter: (UInt8) -> Bool = { $0 & 31 == 9 }
    ) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        for unit in units(bytes) {
            if isDelimiter(unit[0]) { frames.append([]) }
            if !frames.isEmpty { frames[frames.count - 1] += [0, 0, 0, 1] + unit }
        }
        return frames
    }

    static func ivfFrames(_ bytes: [UInt8]) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var offset = 32
        while offset + 12 <= bytes.count {
            let length = (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
            guard offset + 12 + length <= bytes.count else { break }
            frames.append(Array(bytes[offset + 12..<offset + 12 + length]))
            offset += 12 + length
        }
        return frames
    }

    /// The packets of an Ogg stream but for the two of its head.
    static func oggPackets(_ bytes: [UInt8]) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        var current: [UInt8] = []
        var offset = 0
        while offset + 27 <= bytes.count {
            let segments = Int(bytes[offset + 26])
            var data = offset + 27 + segments
            for segment in 0..<segments {
                let length = Int(bytes[offset + 27 + segment])
                current += bytes[data..<data + length]
                data += length
                if length < 255 {
                    packets.append(current)
                    current = []
                }
            }
            offset = data
        }
        return Array(packets.dropFirst(2))
    }
}

/// Runs the programs of FFmpeg.
enum FFmpeg {
    struct Failure: Error {
        var status: Int32
    }

    static let isInstalled = ["ffmpeg", "ffprobe"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }

    /// What a program writes to its standard output.
    static func run(_ program: String, _ arguments: [String], errors: FileHandle? = nil) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/\(program)")
        process.arguments = ["-v", "error"] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        if let errors { process.standardError = errors }
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(status: process.terminationStatus) }
        return Array(bytes)
    }

    /// What ffprobe says of the streams of a file, with their frames counted.
    static func probe(_ file: [UInt8]) throws -> String {
        try withFile(file) {
            String(decoding: try run("ffprobe", ["-count_frames", "-show_streams", $0]), as: UTF8.self)
        }
    }

    /// What ffmpeg has to say against a file while it decodes all of it.
    static func complaints(about file: [UInt8]) throws -> String {
        try withFile(file) { path in
            let errors = Pipe()
            _ = try run("ffmpeg", ["-i", path, "-f", "null", "-"], errors: errors.fileHandleForWriting)
            try errors.fileHandleForWriting.close()
            return String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        }
    }

    private static func withFile<Result>(_ bytes: [UInt8], _ body: (String) throws -> Result) throws -> Result {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString).mp4")
        defer { try? FileManager.default.removeItem(at: url) }
        try Data(bytes).write(to: url)
        return try body(url.path)
    }
}
