import ArgumentParser
import Benchmarks
import Foundation

/// `gatehouse bench wakeup`: measures what a frame of one camera costs a relay with many.
struct BenchWakeUpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wakeup", abstract: "Measure what one wake-up of the relay costs.",
        discussion: "A wake-up reads one frame of one camera. Its cost must not grow with the number of cameras.")

    @Option(help: ArgumentHelp("Numbers of cameras, separated by commas.", valueName: "numbers"))
    var cameras = "1,10,50,200"

    @Flag(help: "Print one JSON object per line.")
    var json = false

    private func counts() throws -> [Int] {
        let parts = cameras.split(separator: ",").map { Int($0.trimmingCharacters(in: .whitespaces)) }
        let counts = parts.compactMap { $0 }
        guard counts.count == parts.count, !counts.isEmpty, counts.allSatisfy({ (1...1000).contains($0) }) else {
            throw ValidationError("--cameras must be numbers from 1 to 1000 separated by commas, not \(cameras)")
        }
        return counts
    }

    func validate() throws {
        _ = try counts()
    }

    func run() async throws {
        warnWithoutOptimization()
        if !json { print("cameras  ns/wake-up  inlets/wake-up") }
        for count in try counts() {
            let result = try reportingFailures { try WakeUpBenchmark(cameras: count).measure() }
            if json {
                try printJSONLine(result)
            } else {
                print(
                    String(
                        format: "%7d  %10.0f  %14.2f", result.cameras, result.nanosecondsPerWakeUp,
                        result.inletsPerWakeUp))
            }
        }
    }
}
