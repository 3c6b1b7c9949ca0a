import ArgumentParser
import Benchmarks
import Foundation
import Gateway

/// `gatehouse bench estimator`: measures the cost of estimating the bandwidth of a viewer's path.
struct BenchEstimatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "estimator", abstract: "Measure the cost of estimating the bandwidth of a viewer's path.",
        discussion: """
            Each viewer gets 2.4 Mbit/s and sends transport-wide feedback every 50 ms. The paths are clear, lose one \
            packet in five, or carry three fifths of the stream.
            """)

    @Option(help: ArgumentHelp("How many viewers are estimated in turn, 1 to 1000.", valueName: "number"))
    var viewers = 100

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func validate() throws {
        guard (1...1000).contains(viewers) else {
            throw ValidationError("--viewers must be a number from 1 to 1000, not \(viewers)")
        }
    }

    func run() async throws {
        warnWithoutOptimization()
        var table = TextTable(
            header: ["path", "viewers", "µs/viewer/s", "ns/packet", "allocations/viewer/s", "limit, Mbit/s"])
        for path in EstimatorMeasurement.Path.allCases {
            let result = EstimatorBenchmark(path: path, viewers: viewers).measure()
            if json {
                try printJSONLine(result)
                continue
            }
            table.add([
                path.rawValue, "\(result.viewers)", String(format: "%.1f", result.microsecondsPerViewerSecond),
                String(format: "%.0f", result.nanosecondsPerPacket),
                result.allocationsPerViewerSecond.map { String(format: "%.1f", $0) } ?? "–",
                result.limit.map { String(format: "%.2f", $0 / 1e6) } ?? "none",
            ])
        }
        if !json { print(table.text) }
    }
}
