import ArgumentParser
import Foundation

/// `gatehouse bench`: measures the gateway's parts, each next to its reference.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Measure what the gateway costs.",
        discussion: "docs/performance.md says how to measure, and what was measured.",
        subcommands: [
            BenchRelayCommand.self, BenchLatencyCommand.self, BenchHandshakeCommand.self, BenchSDPCommand.self,
            BenchViewersCommand.self, BenchSoundCommand.self,
        ])
}

/// Prints `value` as one JSON object on a separate line.
func printJSONLine(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    printJSON(try encoder.encode(value))
}

/// Warns when the figures would mislead: a build without optimization is many times slower.
func warnWithoutOptimization() {
    #if DEBUG
        printError("gatehouse: this is a debug build; build with -c release to measure anything")
    #endif
}
