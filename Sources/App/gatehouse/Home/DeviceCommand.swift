import ArgumentParser
import Foundation
import Gateway
import GatewayClient
import HomeTypes

/// `gatehouse device`: one device.
struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "Look at one device, control it, and change its name and place.",
        discussion: """
            Refer to a device by its key, its id or its name.

            Examples:
              gatehouse device show door-lamp
              gatehouse device set door-lamp onOff=true level=40%
              gatehouse device command door-lamp OnOff toggle
              gatehouse device move door-lamp --room Hall
              gatehouse device watch door-lamp
            """,
        subcommands: [
            DeviceShowCommand.self, DeviceSetCommand.self, DeviceSendCommand.self, DeviceWatchCommand.self,
            DeviceRenameCommand.self, DeviceMoveCommand.self, DeviceRemoveCommand.self,
        ])
}

/// Which device a command is about.
struct DeviceArgument: ParsableArguments {
    @Argument(help: "The device, by its key, id or name.", completion: HomeCompletion.devices)
    var device: String
}

/// Which part of the device a command is about.
struct EndpointOption: ParsableArguments {
    @Option(help: ArgumentHelp("The endpoint, where several have the trait.", valueName: "number"))
    var endpoint: UInt16?

    /// The query of a request.
    var query: String { endpoint.map { "?endpoint=\($0)" } ?? "" }
}

/// `gatehouse device show`.
struct DeviceShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a device with its traits and their attributes.")

    @OptionGroup var which: DeviceArgument

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            let home = try await HomeOverview(connection)
            let device = try home.device(named: which.device)
            if json {
                return printJSON(try await connection.get("/v1/devices/\(GatewayConnection.segment(device.id))"))
            }
            print("\(device.name)  \(device.typeWords)  \(device.connectivityState.rawValue)")
            if let key = device.key { print("key:   \(key)") }
            print("id:    \(device.id)")
            print("place: \(home.structureName(device.structureID ?? "-")), \(home.room(of: device))")
            if let source = device.source {
                print("source: \(source.state.rawValue)\(source.reason.map { ": \($0)" } ?? "")")
            }
            for endpoint in device.endpoints {
                print("endpoint \(endpoint.id): \(endpoint.types.joined(separator: ", "))")
                for trait in endpoint.traits.all { show(trait) }
            }
        }
    }

    private func show(_ trait: any Trait) {
        let name = type(of: trait).name
        print("  \(name)")
        for (attribute, value) in AttributeText.members(trait).sorted(by: { $0.key < $1.key }) {
            let canBeSet = AttributeAssignment.canSet(attribute, of: type(of: trait))
            let text = AttributeText.words(value, trait: name, attribute: attribute)
            print("    \(attribute) = \(text)\(canBeSet ? "  (can be set)" : "")")
        }
    }
}

/// `gatehouse device rename`.
struct DeviceRenameCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename", abstract: "Rename a device.",
        discussion: "A name longer than 60 characters is cut off. An empty name restores the config's name.")

    @OptionGroup var which: DeviceArgument

    @Argument(help: "Its new name.")
    var name: String

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            let device = try await HomeOverview(connection).device(named: which.device)
            let data = try await HomeRequest.send(
                .patch, "/v1/devices/\(GatewayConnection.segment(device.id))",
                ["name": name.isEmpty ? .null : .text(name)], connection)
            if json { return printJSON(data) }
            print("\(device.label) is called \(try connection.decode(DeviceSnapshot.self, data).name) now")
        }
    }
}

/// `gatehouse device move`.
struct DeviceMoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Move a device to a room, out of its room, or to another structure.")

    @OptionGroup var which: DeviceArgument

    @Option(help: ArgumentHelp("The room.", valueName: "room"), completion: HomeCompletion.rooms)
    var room: String?

    @Flag(help: "Take the device out of its room.")
    var noRoom = false

    @Option(
        help: ArgumentHelp("The structure; the device leaves its room.", valueName: "structure"),
        completion: HomeCompletion.structures)
    var structure: String?

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func validate() throws {
        guard [room != nil, noRoom, structure != nil].count(where: { $0 }) == 1 else {
            throw ValidationError("say where it goes: --room, --no-room or --structure")
        }
    }

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            let home = try await HomeOverview(connection)
            let device = try home.device(named: which.device)
            var fields: [String: JSONObject.Value] = [:]
            var place = "in no room"
            if let room {
                let room = try home.room(named: room)
                fields["roomID"] = .text(room.id)
                place = "in \(room.name)"
            } else if let structure {
                let structure = try home.structure(named: structure)
                fields["structureID"] = .text(structure.id)
                place = "in \(structure.name)"
            } else {
                fields["roomID"] = .null
            }
            let data = try await HomeRequest.send(
                .patch, "/v1/devices/\(GatewayConnection.segment(device.id))", fields, connection)
            if json { return printJSON(data) }
            print("\(device.label) is \(place) now")
        }
    }
}
