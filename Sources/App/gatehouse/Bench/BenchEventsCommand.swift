import ArgumentParser
import Benchmarks
import Foundation

/// `gatehouse bench events`: measures the change log.
struct BenchEventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Measure the change log: changes per second, and the delay to its readers.")

    @Option(help: ArgumentHelp("Numbers of streams, separated by commas.", valueName: "numbers"))
    var streams = "1,100,500"

    @Option(help: ArgumentHelp("How many changes each stream gets.", valueName: "number"))
    var changes = 1_000

    @Option(help: ArgumentHelp("A folder for the log's file. Defaults to a temporary one.", valueName: "folder"))
    var folder: String?

    @Flag(help: "Add changes until the process ends, and print the number of each change that a reader received.")
    var endless = false

    @Flag(help: "Print one JSON object per line.")
    var json = false

    private func counts() throws -> [Int] {
        let counts = streams.split(separator: ",").compactMap { Int($0.trimmingCharacters(in: .whitespaces)) }
        guard !counts.isEmpty, counts.allSatisfy({ (1...10_000).contains($0) }) else {
            throw ValidationError("--streams takes numbers from 1 to 10000 with commas between them, not \(streams)")
        }
        return counts
    }

    func validate() throws {
        _ = try counts()
        guard (10...1_000_000).contains(changes) else {
            throw ValidationError("--changes must be between 10 and 1000000")
        }
    }

    func run() async throws {
        let temporary = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString)")
        let place = folder ?? temporary.path
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: temporary) }
        let benchmark = EventBenchmark(folder: place)
        if endless { return try await reportingFailures { try await benchmark.run { print("\($0)") } } }
        warnWithoutOptimization()
        let rate = try reportingFailures { try benchmark.changesPerSecond(of: 100_000) }
        if json {
            try printJSONLine(["changesPerSecond": rate])
        } else {
            print(String(format: "the store takes %.0f changes a second", rate))
            print("streams    p50 µs    p99 µs")
        }
        for count in try counts() {
            let result = try await reportingFailures { try await benchmark.delays(streams: count, changes: changes) }
            if json {
                try printJSONLine(result)
            } else {
                print(String(format: "%7d  %8.0f  %8.0f", count, result.p50Microseconds, result.p99Microseconds))
            }
        }
    }
}
