import Codecs
import Foundation
import RTP

/// Coded streams that ffmpeg makes when a test needs them.
enum FFmpegSamples {
    struct Failure: Error {
        var status: Int32
    }

    static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg")

    /// What ffmpeg writes for `input` with `arguments`.
    static func run(_ input: [UInt8], _ inputArguments: [String], _ arguments: [String]) throws -> [UInt8] {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        try Data(input).write(to: url)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/ffmpeg")
        process.arguments = ["-v", "error", "-threads", "1"] + inputArguments + ["-i", url.path] + arguments + ["-"]
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(status: process.terminationStatus) }
        return Array(bytes)
    }

    /// Coded frames of pictures, in the order of decoding.
    static func video(_ pictures: [I420Frame], _ codec: VideoDecoder.Codec, _ options: [String] = []) throws
        -> [[UInt8]]
    {
        guard let first = pictures.first else { return [] }
        let raw = pictures.flatMap { $0.luma + $0.chromaBlue + $0.chromaRed }
        let input = [
            "-f", "rawvideo", "-pix_fmt", "yuv420p", "-video_size", "\(first.width)x\(first.height)",
            "-framerate", "15",
        ]
        switch codec {
        case .h264:
            let bytes = try run(
                raw, input,
                ["-c:v", "libx264", "-preset", "veryfast"] + options + [
                    "-bsf:v", "h264_metadata=aud=insert", "-f", "h264",
                ])
            return accessUnits(bytes) { $0 & 0x1F == 9 }
        case .h265:
            let bytes = try run(
                raw, input,
                ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none:pools=1"] + options + [
                    "-bsf:v", "hevc_metadata=aud=insert", "-f", "hevc",
                ])
            return accessUnits(bytes) { $0 >> 1 & 0x3F == 35 }
        case .jpeg:
            let bytes = try run(raw, input, ["-c:v", "mjpeg"] + options + ["-f", "mjpeg"])
            let starts = bytes.indices.filter { bytes[$0...].starts(with: [0xFF, 0xD8, 0xFF]) }
            return zip(starts, starts.dropFirst() + [bytes.count]).map { Array(bytes[$0..<$1]) }
        case .av1:
            return frames(
                ofIVF: try run(
                    raw, input,
                    ["-c:v", "libaom-av1", "-usage", "realtime", "-cpu-used", "8"] + options + ["-f", "ivf"]))
        case .vp8, .vp9:
            let encoder = codec == .vp8 ? "libvpx" : "libvpx-vp9"
            return frames(
                ofIVF: try run(
                    raw, input, ["-c:v", encoder, "-deadline", "realtime", "-cpu-used", "8"] + options + ["-f", "ivf"]))
        }
    }

    /// Splits a byte stream before each access unit delimiter.
    private static func accessUnits(_ bytes: [UInt8], isDelimiter: (UInt8) -> Bool) -> [[UInt8]] {
        var units: [[UInt8]] = []
        bytes.withUnsafeBytes { bytes in
            for unit in AnnexBUnits(bytes) {
                if isDelimiter(unit[0]) { units.append([]) }
                if !units.isEmpty { units[units.count - 1] += [0, 0, 0, 1] + Array(unit) }
            }
        }
        return units
    }

    private static func frames(ofIVF bytes: [UInt8]) -> [[UInt8]] {
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
}
