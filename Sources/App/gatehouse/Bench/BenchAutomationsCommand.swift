import ArgumentParser
import Benchmarks
import Foundation

/// `gatehouse bench automations`: measures the engine of automations.
struct BenchAutomationsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "automations",
        abstract: "Measure the automation engine: the time from an event to a command, and the cost of waiting runs.")

    @Option(help: ArgumentHelp("How many events start a run for each number of automations.", valueName: "number"))
    var events = 2_000

    @Option(help: ArgumentHelp("How many runs wait for a delay.", valueName: "number"))
    var sleeping = 10_000

    @Option(help: ArgumentHelp("A folder for the store's file. Defaults to a temporary one.", valueName: "folder"))
    var folder: String?

    @Flag(help: "Print one JSON object per line.")
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
        for count in [1, 100, 1_000, 10_000] {
            let result = try reportingFailures { try benchmark.measure(automations: count, events: events) }
            if json { try printJSONLine(result) } else { print(Self.words(result)) }
        }
        let runs = try reportingFailures { try benchmark.sleeping(sleeping) }
        if json { return try printJSONLine(runs) }
        print(
            String(
                format: "%d waiting runs: %d bytes each, continued in %.1f ms; %d bytes stored up to the delay",
                runs.runs,
                runs.bytesPerRun, runs.restoreMilliseconds, runs.storedBytesPerRun))
    }

    private static func words(_ result: AutomationMeasurement) -> String {
        func line(_ name: String, _ p50: Double, _ p99: Double) -> String {
            "  \(name.padding(toLength: 52, withPad: " ", startingAt: 0))"
                + String(format: "p50 %8.1f µs  p99 %8.1f µs", p50, p99)
        }
        var lines = [
            "\(result.automations) automation\(result.automations == 1 ? "" : "s"), "
                + "\(result.bytesPerAutomation) bytes each",
            line("from an event to its command", result.p50Microseconds, result.p99Microseconds),
            line("from a change to its command", result.p50ChangeMicroseconds, result.p99ChangeMicroseconds),
            line("an event with its record on the disk", result.p50StoredMicroseconds, result.p99StoredMicroseconds),
            line(
                "  floor: a bare transaction of as many bytes", result.p50CommitMicroseconds,
                result.p99CommitMicroseconds),
            line(
                "an event behind 1,000 changes of a paused one", result.p50FloodMicroseconds,
                result.p99FloodMicroseconds),
        ]
        lines += result.idle.map { idle in
            let allocations = idle.allocations.map { String(format: "%.3f", $0) } ?? "-"
            return "  \(idle.kind.padding(toLength: 52, withPad: " ", startingAt: 0))"
                + String(format: "%12.0f ns, ", idle.nanoseconds) + "\(allocations) allocations"
        }
        return lines.joined(separator: "\n")
    }
}
