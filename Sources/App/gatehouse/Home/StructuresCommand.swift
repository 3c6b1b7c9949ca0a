import ArgumentParser
import Foundation
import Gateway
import GatewayClient
import HomeTypes

/// `gatehouse structures`: the buildings of the home.
struct StructuresCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "structures", abstract: "List, create, change and delete structures.",
        discussion: """
            Examples:
              gatehouse structures
              gatehouse structures create Cabin --time-zone Europe/Helsinki
              gatehouse structures change Cabin --name "Summer cabin" --address "Lakeside 1"
              gatehouse structures delete Cabin
            """,
        subcommands: [List.self, Create.self, Change.self, Delete.self], defaultSubcommand: List.self)

    /// What a structure has besides its name.
    struct Fields: ParsableArguments {
        @Option(help: ArgumentHelp("The postal address.", valueName: "text"))
        var address: String?

        @Option(help: ArgumentHelp("Degrees north of the equator.", valueName: "degrees"))
        var latitude: Double?

        @Option(help: ArgumentHelp("Degrees east of Greenwich.", valueName: "degrees"))
        var longitude: Double?

        @Option(help: ArgumentHelp("The time zone, for example Europe/Berlin.", valueName: "zone"))
        var timeZone: String?

        var members: [String: JSONObject.Value] {
            var members: [String: JSONObject.Value] = [:]
            members["address"] = address.map { .text($0) }
            members["latitude"] = latitude.map { .number($0) }
            members["longitude"] = longitude.map { .number($0) }
            members["timeZone"] = timeZone.map { .text($0) }
            return members
        }
    }

    /// `gatehouse structures list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the structures.")

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let connection = try gateway.connect()
            try await reportingHomeErrors {
                if json { return printJSON(try await connection.get("/v1/structures")) }
                let home = try await HomeOverview(connection)
                var table = TerminalTable(
                    header: ["NAME", "ADDRESS", "TIME ZONE", "ROOMS", "DEVICES", "ID"],
                    whole: ["ROOMS", "DEVICES", "ID"])
                let ids = ShownIdentifiers(home.structures.map(\.id))
                for structure in home.structures {
                    table.add([
                        structure.name, structure.address ?? "-", structure.timeZone,
                        "\(home.rooms.count { $0.structureID == structure.id })",
                        "\(home.devices.count { $0.structureID == structure.id })", ids[structure.id],
                    ])
                }
                print(table.text)
            }
        }
    }

    /// `gatehouse structures create`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create a structure.")

        @Argument(help: "Its name.")
        var name: String

        @OptionGroup var fields: Fields

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let connection = try gateway.connect()
            try await reportingHomeErrors {
                var members = fields.members
                members["name"] = .text(name)
                if members["timeZone"] == nil { members["timeZone"] = .text(TimeZone.current.identifier) }
                let data = try await HomeRequest.send(.post, "/v1/structures", members, connection)
                if json { return printJSON(data) }
                // The gateway cuts a long name off.
                print("\(try connection.decode(StructureSnapshot.self, data).name) is a structure now")
            }
        }
    }

    /// `gatehouse structures change`.
    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Rename a structure, or change its address, coordinates or time zone.", aliases: ["rename"])

        @Argument(help: "The structure, by its name or id.", completion: HomeCompletion.structures)
        var structure: String

        @Option(help: "Its new name.")
        var name: String?

        @OptionGroup var fields: Fields

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup var gateway: GatewayOptions

        func validate() throws {
            guard name != nil || !fields.members.isEmpty else {
                throw ValidationError("say what to change: --name, --address, --latitude, --longitude or --time-zone")
            }
        }

        func run() async throws {
            let connection = try gateway.connect()
            try await reportingHomeErrors {
                let structure = try await HomeOverview(connection).structure(named: structure)
                var members = fields.members
                members["name"] = name.map { .text($0) }
                let data = try await HomeRequest.send(
                    .patch, "/v1/structures/\(GatewayConnection.segment(structure.id))", members, connection)
                if json { return printJSON(data) }
                print("\(try connection.decode(StructureSnapshot.self, data).name) is changed")
            }
        }
    }

    /// `gatehouse structures delete`.
    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a structure that has no devices.")

        @Argument(help: "The structure, by its name or id.", completion: HomeCompletion.structures)
        var structure: String

        @OptionGroup var gateway: GatewayOptions

        func run() async throws {
            let connection = try gateway.connect()
            try await reportingHomeErrors {
                let structure = try await HomeOverview(connection).structure(named: structure)
                try await connection.delete("/v1/structures/\(GatewayConnection.segment(structure.id))")
                print("\(structure.name) is deleted")
            }
        }
    }
}
