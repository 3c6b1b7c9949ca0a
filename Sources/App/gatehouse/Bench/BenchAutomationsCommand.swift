import ArgumentParser
import Benchmarks
import Foundation

/// `gatehouse bench automations`: measures the engine of automations.
struct BenchAutomationsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "automations",
        abstract: "Measure the engine of automations: from an event to a command, and what waiting runs cost.")

    @Option(help: ArgumentHelp("How many events start a run for each number of automations.", valueName: "number"))
    var events = 2_000

    @Option(help: ArgumentHelp("How many runs wait for a delay.", valueName: "number"))
    var sleeping = 10_000

    @Option(help: ArgumentHelp("A folder for the store's file; without it, one that is removed.", valueName: "folder"))
    var folder: String?

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        guard (10...100_000).contains(events) else { throw ValidationError("--events must be between 10 and 100000") }
        guard (1...10_000).contains(sleeping) else { throw ValidationError("--sleeping must be between 1 and 10000") }
    }

    func run() async throws {
        let temporary = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString)")
        let place = folder ?? temporary.path
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: temporary) }
        warnWithoutOptimization()
        let benchmark = AutomationBenchmark(folder: place)
        if !json {
            print(
                "automations    p50 µs    p99 µs  p50 change  p99 change  p50 stored  p99 stored   idle ns  "
                    + "idle allocations  bytes each")
        }
        for count in [1, 100, 1_000, 10_000] {
            let result = try reportingFailures { try benchmark.measure(automations: count, events: events) }
            if json {
                try printJSONLine(result)
                continue
            }
            let allocations = result.idleAllocations.map { String(format: "%.3f", $0) } ?? "-"
            print(
                String(
                    format: "%11d  %8.1f  %8.1f  %10.1f  %10.1f  %10.1f  %10.1f  %8.0f", count, result.p50Microseconds,
                    result.p99Microseconds, result.p50ChangeMicroseconds, result.p99ChangeMicroseconds,
                    result.p50StoredMicroseconds, result.p99StoredMicroseconds,
                    result.idleNanoseconds) + "  \(allocations)  \(result.bytesPerAutomation)")
        }
        let runs = try reportingFailures { try benchmark.sleeping(sleeping) }
        if json { return try printJSONLine(runs) }
        print(
            String(
                format: "%d waiting runs: %d bytes each, continued in %.1f ms; %d bytes stored up to the delay",
                runs.runs,
                runs.bytesPerRun, runs.restoreMilliseconds, runs.storedBytesPerRun))
    }
}
