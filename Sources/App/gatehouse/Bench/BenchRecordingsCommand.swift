import ArgumentParser
import Benchmarks
import Foundation

/// `gatehouse bench recordings`: measures the local store of recordings.
struct BenchRecordingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recordings", abstract: "Measure the recording store: its writing and its index.")

    @Option(help: ArgumentHelp("How many 2 Mbit/s cameras record; 0 skips this.", valueName: "number"))
    var cameras = 20

    @Option(help: ArgumentHelp("How much each camera records, in seconds.", valueName: "seconds"))
    var seconds = 60

    @Option(help: ArgumentHelp("How many segments the index has; 0 skips this.", valueName: "number"))
    var segments = 1_000_000

    @Option(
        help: ArgumentHelp("A folder on the disk to measure. A temporary folder is made in it.", valueName: "folder"))
    var folder: String?

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func validate() throws {
        guard (0...200).contains(cameras) else { throw ValidationError("--cameras must be between 0 and 200") }
        guard (1...3_600).contains(seconds) else { throw ValidationError("--seconds must be between 1 and 3600") }
        guard (0...10_000_000).contains(segments) else {
            throw ValidationError("--segments must be between 0 and 10000000")
        }
    }

    func run() async throws {
        warnWithoutOptimization()
        let parent = folder.map { URL(fileURLWithPath: $0) } ?? FileManager.default.temporaryDirectory
        let place = parent.appendingPathComponent("gatehouse-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let benchmark = RecordingStoreBenchmark(folder: place.path)
        if cameras > 0 {
            let result = try reportingFailures { try benchmark.write(cameras: cameras, seconds: seconds) }
            if json { try printJSONLine(result) } else { printText(result) }
        }
        if segments > 0 {
            let result = try reportingFailures { try benchmark.index(segments: segments) }
            if json { try printJSONLine(result) } else { printText(result) }
        }
    }

    private func printText(_ result: RecordingWriteMeasurement) {
        print(
            String(
                format: """
                    %d cameras, %.1f times real time
                    a recorded minute: %.0f bytes of media, %.0f of descriptions and journals, %.0f to the disk (%.3f)
                    a recorded minute: %.1f files and %.1f folders synchronized
                    a chunk on the disk: p50 %.2f ms, p99 %.2f ms
                    """, result.cameras, result.timesRealTime, result.mediaBytes, result.metadataBytes,
                result.diskBytes, result.diskBytes / result.mediaBytes, result.fileSynchronizations,
                result.folderSynchronizations, result.p50Milliseconds, result.p99Milliseconds))
    }

    private func printText(_ result: RecordingIndexMeasurement) {
        print(
            String(
                format: """
                    %d segments in %d recordings: %d bytes
                    open %.1f ms, compare with the folders %.1f ms
                    a day of a device: its recordings %.2f ms, with their segments %.2f ms
                    days with footage %.2f ms, totals %.2f ms
                    """, result.segments, result.recordings, result.fileBytes, result.openMilliseconds,
                result.recoverMilliseconds, result.dayMilliseconds, result.daySegmentsMilliseconds,
                result.daysMilliseconds, result.totalsMilliseconds))
    }
}
