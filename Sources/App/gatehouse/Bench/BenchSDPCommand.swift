import ArgumentParser
import Benchmarks
import Foundation

/// `gatehouse bench sdp`: measures the cost of reading and answering recorded offers.
struct BenchSDPCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sdp", abstract: "Measure reading and answering recorded offers.",
        discussion: "Reads the *.sdp files in a folder. The default is the project's own recordings.")

    @Option(help: ArgumentHelp("The folder with the offers.", valueName: "folder"))
    var samples = "sdp-samples/offers"

    @Flag(help: "Print one JSON object per line.")
    var json = false

    private func files() throws -> [URL] {
        let folder = URL(fileURLWithPath: samples, isDirectory: true)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let files = names.filter { $0.hasSuffix(".sdp") }.sorted().map { folder.appendingPathComponent($0) }
        guard !files.isEmpty else {
            throw BenchmarkFailure("there is no *.sdp file in \(folder.path); name a folder of offers with --samples")
        }
        return files
    }

    func run() async throws {
        warnWithoutOptimization()
        if !json { print("offer                                             bytes  parse µs  answer µs  offers/s") }
        for file in try reportingFailures({ try files() }) {
            let name = file.deletingPathExtension().lastPathComponent
            guard let text = try? String(contentsOf: file, encoding: .utf8),
                let result = try? SDPBenchmark().measure(name: name, text: text)
            else {
                printError("gatehouse: \(name) is not a session description and is skipped")
                continue
            }
            if json {
                try printJSONLine(result)
                continue
            }
            let answer = result.answerMicroseconds.map { String(format: "%.0f", $0) } ?? "refused"
            print(
                name.padding(toLength: 48, withPad: " ", startingAt: 0)
                    + String(
                        format: "%7d  %8.0f  %9@  %8.0f", result.bytes, result.parseMicroseconds, answer as NSString,
                        result.perSecond))
        }
    }
}
