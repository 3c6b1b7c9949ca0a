import ArgumentParser
import Benchmarks
import Foundation

/// `gatehouse bench record`: measures recording.
struct BenchRecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Measure what it costs to record cameras.",
        discussion: """
            Records simulated cameras at the rate of real ones. tools/bench-recording runs FFmpeg alongside it, \
            which copies streams of the same rate into segments.
            """)

    @Option(help: ArgumentHelp("How many cameras.", valueName: "number"))
    var cameras = 20

    @Option(help: ArgumentHelp("The bit rate of each camera, in bits per second.", valueName: "rate"))
    var rate = 2_000_000

    @Option(help: ArgumentHelp("How long to record, in seconds.", valueName: "seconds"))
    var duration = 20.0

    @Option(help: ArgumentHelp("A folder for the recordings. Defaults to a temporary one.", valueName: "folder"))
    var folder: String?

    @Flag(help: "Write each chunk to the disk before the next one.")
    var sync = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard (1...1_000).contains(cameras) else { throw ValidationError("--cameras takes 1 to 1000, not \(cameras)") }
        guard (10_000...200_000_000).contains(rate) else {
            throw ValidationError("--rate takes 10000 to 200000000 bits a second, not \(rate)")
        }
        guard duration >= 1, duration <= 86_400 else {
            throw ValidationError("--duration takes 1 to 86400 seconds, not \(duration)")
        }
    }

    func run() throws {
        warnWithoutOptimization()
        let own = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString)").path
        let folder = folder ?? own
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { if self.folder == nil { try? FileManager.default.removeItem(atPath: own) } }
        var benchmark = RecordingBenchmark(folder: folder)
        benchmark.cameras = cameras
        benchmark.bitsPerSecond = rate
        benchmark.seconds = duration
        benchmark.syncs = sync
        let measured = try benchmark.run()
        if json { return try printJSONLine(measured) }
        print(
            """
            \(measured.cameras) cameras of \(Int(measured.bitsPerSecond) / 1_000) kbit/s for \(measured.seconds) s
            processor time for each second of a camera, in milliseconds:
            recording threads: \(measured.recordingMillisecondsPerCameraSecond)
            whole process: \(measured.processMillisecondsPerCameraSecond) (with the made-up cameras and the relay)
            chunks: \(measured.chunks), packets left out: \(measured.droppedPackets)
            """)
    }
}
