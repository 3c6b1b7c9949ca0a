import ArgumentParser
import Foundation

/// `gatehouse bench`: measures the gateway's parts, each next to its reference.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Measure the gateway's performance.",
        discussion: "The document performance.md describes the method and the results.",
        subcommands: [
            BenchRelayCommand.self, BenchWakeUpCommand.self, BenchEstimatorCommand.self, BenchLatencyCommand.self,
            BenchHandshakeCommand.self, BenchSDPCommand.self, BenchViewersCommand.self, BenchSoundCommand.self,
            BenchEchoCommand.self, BenchEventsCommand.self, BenchAutomationsCommand.self, BenchRecordCommand.self,
            BenchRecordingsCommand.self,
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
        printError("gatehouse: this is a debug build, so the figures are useless; build with -c release")
    #endif
}
