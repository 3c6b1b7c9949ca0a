import ArgumentParser
import Foundation
import Gateway
import GatewayClient
import HomeTypes

/// `gatehouse home`: what the home consists of, at a glance.
struct HomeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "home", abstract: "Show the structures, their rooms, and how many devices are online.")

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            let home = try await HomeOverview(connection)
            if json {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                return printJSON(try encoder.encode(home))
            }
            for structure in home.structures { show(structure, home) }
            let strays = home.devices.filter { device in !home.structures.contains { $0.id == device.structureID } }
            if !strays.isEmpty { print("Other devices: \(strays.map(\.label).joined(separator: ", "))") }
        }
    }

    private func show(_ structure: StructureSnapshot, _ home: HomeOverview) {
        let devices = home.devices.filter { $0.structureID == structure.id }
        let online = devices.count { $0.connectivityState == .online }
        let place = structure.address.map { ", \($0)" } ?? ""
        print("\(structure.name)\(place)  \(devices.count) devices, \(online) online")
        var table = TerminalTable(header: ["  ROOM", "DEVICES"], whole: [])
        for room in home.rooms where room.structureID == structure.id {
            let names = devices.filter { $0.roomID == room.id }.map(\.name)
            table.add(["  " + room.name, names.isEmpty ? "-" : names.joined(separator: ", ")])
        }
        let loose = devices.filter { device in !home.rooms.contains { $0.id == device.roomID } }
        if !loose.isEmpty { table.add(["  (no room)", loose.map(\.name).joined(separator: ", ")]) }
        print(table.text)
        for device in devices where device.connectivityState == .offline {
            print("  offline: \(device.label)\(device.source?.reason.map { " (\($0))" } ?? "")")
        }
    }
}
