import Foundation
import FragmentedMP4
import Glibc
import PushAvStreamTransport
import RecordingFakes
import Testing
import Transport

/// Figures for docs/performance.md, measured with GATEHOUSE_FIGURES=1 in a build with -c release.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["GATEHOUSE_FIGURES"] != nil))
struct ExportFigures {
    @Test func exportOfAnHourNextToCopying() throws {
        let folder = try PlaybackTests.Folder()
        let recordings = try PreparedRecordings(folder: folder.path)
        // An hour of 2 Mbit/s in segments of four seconds.
        try recordings.add(
            start: PlaybackTests.start, seconds: 3_600, kind: .continuous, length: 10_000, segmentSeconds: 4)
        var lines: [String] = []
        for round in 0..<5 {
            let path = folder.path + "/export.mp4"
            let clock = ContinuousClock()
            var export: RecordingExport?
            let planning = try clock.measure {
                export = try RecordingExport(
                    RecordedRange(of: "door", from: .min, until: .max, in: recordings.store))
            }
            let made = try #require(export)
            let descriptor = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
            let writing = try clock.measure { try made.write(to: descriptor) }
            close(descriptor)
            var reading = Duration.zero
            var buffer = [UInt8](repeating: 0, count: 512 << 10)
            var reader = RecordingExportReader(made, range: 0..<made.length)
            reading = try clock.measure {
                while try buffer.withUnsafeMutableBytes({ try reader.read(into: $0) }) > 0 {}
            }
            let copying = try clock.measure {
                let process = Process()
                process.executableURL = URL(fileURLWithPath: "/bin/cp")
                process.arguments = [path, path + ".copy"]
                try process.run()
                process.waitUntilExit()
            }
            lines.append(
                "round \(round): \(made.length >> 20) MiB, \(made.file.samples) samples, tables \(planning), "
                    + "writing \(writing), reading for HTTP \(reading), cp \(copying)")
            unlink(path)
            unlink(path + ".copy")
        }
        print(lines.joined(separator: "\n"))
    }
}
