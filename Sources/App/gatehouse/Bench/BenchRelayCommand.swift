import ArgumentParser
import Benchmarks
import Foundation

/// `gatehouse bench relay`: measures the cost of relaying a packet to a viewer.
struct BenchRelayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay", abstract: "Measure the relay's cost per packet and viewer.",
        discussion: """
            Compares it with the floor of the same run: one AES-128-GCM encryption and one eighth of a send of 8 \
            datagrams.
            """)

    @Option(help: ArgumentHelp("Numbers of viewers, separated by commas.", valueName: "numbers"))
    var viewers = "1,10,100,500"

    @Flag(help: "Print one JSON object per line.")
    var json = false

    private func counts() throws -> [Int] {
        let parts = viewers.split(separator: ",").map { Int($0.trimmingCharacters(in: .whitespaces)) }
        let counts = parts.compactMap { $0 }
        guard counts.count == parts.count, !counts.isEmpty, counts.allSatisfy({ (1...1000).contains($0) }) else {
            throw ValidationError("--viewers must be numbers from 1 to 1000 separated by commas, not \(viewers)")
        }
        return counts
    }

    func validate() throws {
        _ = try counts()
    }

    func run() async throws {
        warnWithoutOptimization()
        if !json { print("viewers  ns/packet  floor ns  ratio  allocations/packet  KiB/viewer") }
        for count in try counts() {
            let result = try reportingFailures { try RelayBenchmark(viewers: count).measure() }
            if json {
                try printJSONLine(result)
            } else {
                let allocations = result.allocationsPerPacket.map { String(format: "%.4f", $0) } ?? "not counted"
                print(
                    String(
                        format: "%7d  %9.0f  %8.0f  %5.2f  %18@  %10.1f", result.viewers,
                        result.nanosecondsPerPacketViewer, result.floorNanoseconds, result.ratio,
                        allocations as NSString, Double(result.bytesPerViewer) / 1024))
            }
            if result.overflowedDatagrams > 0 {
                printError(
                    "gatehouse: the receiving socket overflowed \(result.overflowedDatagrams) times, so the costs are "
                        + "too small; raise net.core.rmem_max or run as root")
            }
        }
    }
}
