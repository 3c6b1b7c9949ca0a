import ArgumentParser
import Foundation
import Gateway
import GatewayClient
import HomeTypes

/// `gatehouse rooms`: the rooms of the home.
struct RoomsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rooms", abstract: "List, create, rename and delete rooms.",
        discussion: """
            Examples:
              gatehouse rooms
              gatehouse rooms create Hall
              gatehouse rooms rename Hall "Entrance hall"
              gatehouse rooms delete Hall
            """,
        subcommands: [List.self, Create.self, Rename.self, Delete.self], defaultSubcommand: List.self)

    /// `gatehouse rooms list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the rooms and their devices.")

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let connection = try gateway.connect()
            try await reportingHomeErrors {
                if json { return printJSON(try await connection.get("/v1/rooms")) }
                let home = try await HomeOverview(connection)
                if home.rooms.isEmpty {
                    return print("There are no rooms yet. gatehouse rooms create NAME makes one.")
                }
                var table = TerminalTable(header: ["NAME", "STRUCTURE", "DEVICES", "ID"], whole: ["ID"])
                let ids = ShownIdentifiers(home.rooms.map(\.id))
                let deviceIDs = ShownIdentifiers(home.devices.map(\.id))
                for room in home.rooms {
                    let devices = home.devices.filter { $0.roomID == room.id }.map { $0.key ?? deviceIDs[$0.id] }
                    table.add([
                        room.name, home.structureName(room.structureID),
                        devices.isEmpty ? "-" : devices.joined(separator: ", "), ids[room.id],
                    ])
                }
                print(table.text)
            }
        }
    }

    /// `gatehouse rooms create`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create a room.")

        @Argument(help: "Its name.")
        var name: String

        @Option(
            help: ArgumentHelp("The structure; needed where there are several.", valueName: "structure"),
            completion: HomeCompletion.structures)
        var structure: String?

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let connection = try gateway.connect()
            try await reportingHomeErrors {
                let home = try await HomeOverview(connection)
                let place: StructureSnapshot
                if let structure {
                    place = try home.structure(named: structure)
                } else {
                    guard home.structures.count == 1, let only = home.structures.first else {
                        throw HomeError.invalidArgument(
                            "name the structure with --structure: \(HomeOverview.choice(home.structures.map(\.name)))")
                    }
                    place = only
                }
                let data = try await HomeRequest.send(
                    .post, "/v1/structures/\(GatewayConnection.segment(place.id))/rooms", ["name": .text(name)],
                    connection)
                if json { return printJSON(data) }
                // The gateway cuts a long name off.
                let room = try connection.decode(RoomSnapshot.self, data)
                print("\(room.name) is a room of \(place.name) now")
            }
        }
    }

    /// `gatehouse rooms rename`.
    struct Rename: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Rename a room.")

        @Argument(help: "The room, by its name or id.", completion: HomeCompletion.rooms)
        var room: String

        @Argument(help: "Its new name.")
        var name: String

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let connection = try gateway.connect()
            try await reportingHomeErrors {
                let room = try await HomeOverview(connection).room(named: room)
                let data = try await HomeRequest.send(
                    .patch, "/v1/rooms/\(GatewayConnection.segment(room.id))", ["name": .text(name)], connection)
                if json { return printJSON(data) }
                let renamed = try connection.decode(RoomSnapshot.self, data)
                print("\(room.name) is called \(renamed.name) now")
            }
        }
    }

    /// `gatehouse rooms delete`.
    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a room. Its devices stay in the structure.")

        @Argument(help: "The room, by its name or id.", completion: HomeCompletion.rooms)
        var room: String

        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let connection = try gateway.connect()
            try await reportingHomeErrors {
                let room = try await HomeOverview(connection).room(named: room)
                try await connection.delete("/v1/rooms/\(GatewayConnection.segment(room.id))")
                print("\(room.name) is deleted; its devices are still in the structure")
            }
        }
    }
}
