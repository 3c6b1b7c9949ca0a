import ArgumentParser
import Benchmarks
import Foundation

/// `gatehouse bench latency`: measures how long a packet takes through the gateway.
struct BenchLatencyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latency", abstract: "Measure the time from a source's packet to the viewers' sockets.")

    @Option(help: ArgumentHelp("How many viewers.", valueName: "number"))
    var viewers = 100

    @Option(
        help: ArgumentHelp("How many shards serve them, 1 to 64; by default one for each core.", valueName: "number"))
    var shards = min(ProcessInfo.processInfo.activeProcessorCount, 64)

    @Option(help: ArgumentHelp("How long, in seconds.", valueName: "seconds"))
    var duration = 10

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func validate() throws {
        guard (1...1000).contains(viewers) else { throw ValidationError("--viewers must be between 1 and 1000") }
        guard (1...64).contains(shards) else { throw ValidationError("--shards must be between 1 and 64") }
        guard (1...20).contains(duration) else { throw ValidationError("--duration must be between 1 and 20 seconds") }
    }

    func run() async throws {
        warnWithoutOptimization()
        let result = try reportingFailures {
            try LatencyBenchmark(viewers: viewers, shards: shards, seconds: duration).measure()
        }
        if json { return try printJSONLine(result) }
        print("viewers  shards  p50 ms  p95 ms  p99 ms   max ms  packets  lost")
        print(
            String(
                format: "%7d  %6d  %6.2f  %6.2f  %6.2f  %7.2f  %7d  %4d", result.viewers, result.shards, result.p50,
                result.p95, result.p99, result.maximum, result.packets, result.lost))
    }
}
