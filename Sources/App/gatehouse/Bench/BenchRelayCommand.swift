import ArgumentParser
import Benchmarks
import Foundation

/// `gatehouse bench relay`: measures the cost of relaying a packet to a viewer.
struct BenchRelayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay", abstract: "Measure the relay's cost per packet and viewer.",
        discussion: """
            Compares it with the floor of the same run: one AES-128-GCM encryption and one eighth of a send of 8 \
            datagrams. With --cameras, each frame of each camera wakes the relay for the viewers of that camera. With \
            --shards, several threads serve one camera's viewers.
            """)

    @Option(
        help: ArgumentHelp("Numbers of viewers, of all cameras together, separated by commas.", valueName: "numbers"))
    var viewers = "1,10,100,500"

    @Option(
        help: ArgumentHelp(
            "How many cameras the viewers are spread over, 1 to 1000. Each camera needs a viewer.",
            valueName: "number"))
    var cameras = 1

    @Option(
        help: ArgumentHelp(
            "Numbers of shards, 1 to 64, separated by commas: measures what they carry together instead.",
            valueName: "numbers"))
    var shards: String?

    @Option(
        help: ArgumentHelp(
            "How many recordings and other consumers read each camera's track as well, 0 to 64.",
            valueName: "number"))
    var taps = 0

    @Flag(help: "Print one JSON object per line.")
    var json = false

    private func numbers(_ text: String, of option: String, in range: ClosedRange<Int>) throws -> [Int] {
        let parts = text.split(separator: ",").map { Int($0.trimmingCharacters(in: .whitespaces)) }
        let numbers = parts.compactMap { $0 }
        guard numbers.count == parts.count, !numbers.isEmpty, numbers.allSatisfy(range.contains) else {
            throw ValidationError(
                "\(option) must be numbers from \(range.lowerBound) to \(range.upperBound) separated by commas, not "
                    + text)
        }
        return numbers
    }

    private func counts() throws -> [Int] { try numbers(viewers, of: "--viewers", in: 1...1000) }

    private func shardCounts() throws -> [Int]? {
        try shards.map { try numbers($0, of: "--shards", in: 1...64) }
    }

    func validate() throws {
        let counts = try counts()
        let shards = try shardCounts()
        guard (1...1000).contains(cameras) else { throw ValidationError("--cameras must be from 1 to 1000") }
        guard cameras == 1 || shards == nil else {
            throw ValidationError("--shards measures one camera: leave out --cameras or --shards")
        }
        if let few = counts.first(where: { $0 < cameras }) {
            throw ValidationError(
                "\(few) viewers cannot watch \(cameras) cameras: give --viewers numbers from \(cameras) on")
        }
        guard (0...64).contains(taps) else { throw ValidationError("--taps must be from 0 to 64") }
    }

    func run() async throws {
        warnWithoutOptimization()
        if let shards = try shardCounts() {
            try measure(shards)
        } else {
            try measure()
        }
    }

    private func measure(_ shards: [Int]) throws {
        if !json { print("shards  viewers  ns/packet  packets/s") }
        for viewers in try counts() {
            for shards in shards {
                let result = try reportingFailures {
                    try ShardedRelayBenchmark(shards: shards, viewers: viewers).measure()
                }
                if json {
                    try printJSONLine(result)
                } else {
                    print(
                        String(
                            format: "%6d  %7d  %9.0f  %9.0f", result.shards, result.viewers,
                            result.nanosecondsPerPacketViewer, result.packetsPerSecond))
                }
                report(overflowed: result.overflowedDatagrams)
            }
        }
    }

    private func measure() throws {
        if !json { print("cameras  viewers  ns/packet  floor ns  ratio  allocations/packet  KiB/viewer") }
        for count in try counts() {
            let result = try reportingFailures {
                try RelayBenchmark(viewers: count, cameras: cameras, taps: taps).measure()
            }
            if json {
                try printJSONLine(result)
            } else {
                let allocations = result.allocationsPerPacket.map { String(format: "%.4f", $0) } ?? "not counted"
                print(
                    String(
                        format: "%7d  %7d  %9.0f  %8.0f  %5.2f  %18@  %10.1f", result.cameras, result.viewers,
                        result.nanosecondsPerPacketViewer, result.floorNanoseconds, result.ratio,
                        allocations as NSString, Double(result.bytesPerViewer) / 1024))
            }
            report(overflowed: result.overflowedDatagrams)
        }
    }

    private func report(overflowed: Int) {
        guard overflowed > 0 else { return }
        printError(
            "gatehouse: the receiving socket overflowed \(overflowed) times, so the costs are too small; raise "
                + "net.core.rmem_max or run as root")
    }
}
