import ArgumentParser
import Foundation
import Gateway
import GatewayClient

/// `gatehouse mqtt`: the MQTT broker.
struct MQTTCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mqtt", abstract: "Inspect the MQTT broker and its devices.",
        subcommands: [MQTTStatusCommand.self], defaultSubcommand: MQTTStatusCommand.self)
}

/// `gatehouse mqtt status`.
struct MQTTStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the connection, the devices, and what could not be used.")

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            let data = try await connection.get("/v1/mqtt")
            if json { return printJSON(data) }
            let status = try connection.decode(MQTTAnswer.self, data)
            print("\(status.host):\(status.port) is \(status.state)\(status.reason.map { ": \($0)" } ?? "")")
            print("\(status.received) messages received, \(status.sent) sent, \(status.trackers) presence trackers")
            if status.superseded + status.dropped > 0 {
                print("\(status.superseded) messages were replaced by newer ones; \(status.dropped) were dropped")
            }
            if !status.devices.isEmpty {
                var table = TerminalTable(header: ["NAME", "TYPES", "KEY"], whole: ["KEY"])
                for device in status.devices {
                    let types = device.types.map { $0.replacingOccurrences(of: "DeviceType", with: "") }
                    table.add([device.name, types.joined(separator: ", "), device.key])
                }
                print(table.text)
            }
            for (person, trackers) in status.silentTrackers.sorted(by: { $0.key < $1.key }) {
                print("not heard from: \(trackers.joined(separator: ", ")), so \(person) is not considered away")
            }
            for (kind, count) in status.ignored.sorted(by: { $0.key < $1.key }) {
                print("ignored: \(count) × \(kind)")
            }
            for problem in status.refused { print("not usable: \(problem.topic) \(problem.reason)") }
            for problem in status.unreadable { print("not readable: \(problem.topic) \(problem.reason)") }
        }
    }
}
