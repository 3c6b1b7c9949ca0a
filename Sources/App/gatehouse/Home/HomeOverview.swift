import Foundation
import GatewayClient
import HomeTypes

/// The structures, rooms and devices of a home, as commands need them.
struct HomeOverview: Codable {
    var structures: [StructureSnapshot]
    var rooms: [RoomSnapshot]
    var devices: [DeviceSnapshot]

    private struct Structures: Decodable { var structures: [StructureSnapshot] }
    private struct Rooms: Decodable { var rooms: [RoomSnapshot] }
    private struct Devices: Decodable { var devices: [DeviceSnapshot] }

    /// Asks a gateway.
    init(_ connection: GatewayConnection) async throws(HomeError) {
        structures = try connection.decode(Structures.self, try await connection.get("/v1/structures")).structures
        rooms = try connection.decode(Rooms.self, try await connection.get("/v1/rooms")).rooms
        devices = try connection.decode(Devices.self, try await connection.get("/v1/devices")).devices
    }

    /// The name of a device's room; a dash where it is in none.
    func room(of device: DeviceSnapshot) -> String {
        rooms.first { $0.id == device.roomID }?.name ?? "-"
    }

    /// The device that people name by its key, its name, its identifier or the beginning of that.
    func device(named text: String) throws(HomeError) -> DeviceSnapshot {
        try Self.device(named: text, in: devices)
    }

    /// The device among some that people name by its key, its name, its identifier or the beginning of that.
    static func device(named text: String, in devices: [DeviceSnapshot]) throws(HomeError) -> DeviceSnapshot {
        if let device = devices.first(where: { $0.id == text || $0.key == text }) { return device }
        let named = try meant(text, in: devices, "devices", id: \.id, name: \.name)
        guard let device = named.first else {
            throw .notFound(
                "no device is called \(text.prefix(64).debugDescription); "
                    + choice(devices.map { $0.key ?? $0.name }))
        }
        guard named.count == 1 else {
            throw .invalidArgument(
                "\(named.count) devices are called \(text); use one of these ids: "
                    + named.map { $0.key ?? $0.id }.joined(separator: ", "))
        }
        return device
    }

    /// The room that people name by its name, its identifier or the beginning of that.
    func room(named text: String) throws(HomeError) -> RoomSnapshot {
        if let room = rooms.first(where: { $0.id == text }) { return room }
        let named = try Self.meant(text, in: rooms, "rooms", id: \.id, name: \.name)
        guard let room = named.first else {
            throw .notFound("no room is called \(text.prefix(64).debugDescription); \(Self.choice(rooms.map(\.name)))")
        }
        guard named.count == 1 else {
            throw .invalidArgument(
                "\(named.count) rooms are called \(text); use one of these ids: "
                    + named.map { "\($0.id) in \(structureName($0.structureID))" }.joined(separator: ", "))
        }
        return room
    }

    /// The structure that people name by its name, its identifier or the beginning of that.
    func structure(named text: String) throws(HomeError) -> StructureSnapshot {
        if let structure = structures.first(where: { $0.id == text }) { return structure }
        let named = try Self.meant(text, in: structures, "structures", id: \.id, name: \.name)
        guard let structure = named.first else {
            throw .notFound(
                "no structure is called \(text.prefix(64).debugDescription); \(Self.choice(structures.map(\.name)))")
        }
        guard named.count == 1 else {
            throw .invalidArgument(
                "\(named.count) structures are called \(text); use one of these ids: "
                    + named.map(\.id).joined(separator: ", "))
        }
        return structure
    }

    /// The name of a structure; its identifier where it is not known.
    func structureName(_ id: String) -> String { structures.first { $0.id == id }?.name ?? id }

    /// What people mean by a text: the things of that name, or else the one whose identifier begins with it.
    /// - Parameter kind: what the things are, in the plural.
    /// - Throws: `invalidArgument` if the identifiers of several begin with the text.
    static func meant<Thing>(
        _ text: String, in things: [Thing], _ kind: String, id: KeyPath<Thing, String>, name: KeyPath<Thing, String>
    ) throws(HomeError) -> [Thing] {
        let named = things.filter { $0[keyPath: name].caseInsensitiveCompare(text) == .orderedSame }
        guard named.isEmpty else { return named }
        let found = try ShortIdentifiers.id(meant: text, in: things.map { $0[keyPath: id] }, kind: kind)
        return things.filter { $0[keyPath: id] == found }
    }

    /// What there is, for a message.
    static func choice(_ names: [String]) -> String {
        if names.isEmpty { return "there is none yet" }
        let shown = names.prefix(20).joined(separator: ", ")
        return "there is \(shown)\(names.count > 20 ? " and \(names.count - 20) more" : "")"
    }
}

extension DeviceSnapshot {
    /// What people type to name it.
    var label: String { key ?? id }

    /// Its type as a person reads it.
    var typeWords: String { type.hasSuffix("DeviceType") ? String(type.dropLast("DeviceType".count)) : type }

    /// Its state as a person reads it; `--json` has the names of the API.
    var stateWords: String {
        guard let source else {
            let values = AttributeText.summary(of: self)
            let isReached = connectivityState == .online
            return isReached && !values.isEmpty ? values : connectivityState.rawValue
        }
        return switch source.state {
        case .flowing: "online"
        case .backingOff: "offline"
        case .givenUp: "given up for now"
        case .settingUp: "setting up"
        default: source.state.rawValue
        }
    }
}
