import Foundation
import GatewayClient
import HomeTypes

/// A building or another place with rooms and devices (Home APIs, `Structure`). A value is a snapshot.
public struct Structure: HomeObject {
    let model: HomeModel
    let content: StructureContent

    /// The identifier, which never changes.
    public var id: String { content.id }
    /// The name that people gave it.
    public var name: String { content.name }
    /// The postal address; nil when none is set.
    public var address: String? { content.address }
    /// The latitude in degrees; nil when it is not set.
    public var latitude: Double? { content.latitude }
    /// The longitude in degrees; nil when it is not set.
    public var longitude: Double? { content.longitude }
    /// The name of the time zone, for example `Europe/Berlin`; nil when it is not set.
    public var timeZone: String? { content.timeZone }
    public var objectType: HomeObjectType { .structure }
    /// The traits of the structure, for example its time.
    public var traits: TraitController { TraitController(model, .structure(id)) }

    init(_ model: HomeModel, _ record: StructureRecord) {
        self.model = model
        content = record.content
    }

    public static func == (first: Structure, second: Structure) -> Bool { first.content == second.content }

    public func hash(into hasher: inout Hasher) { hasher.combine(content) }

    /// Renames the structure.
    /// - Returns: the structure with its new name. This value does not change.
    @discardableResult
    public func setName(_ name: String) async throws(HomeError) -> Structure {
        try await model.changeStructure(.patch, "/v1/structures/\(id)", ["name": name])
    }

    /// Creates a room. Several rooms may have the same name.
    @discardableResult
    public func createRoom(name: String) async throws(HomeError) -> Room {
        try await model.changeRoom(.post, "/v1/structures/\(id)/rooms", ["name": name])
    }

    /// Deletes a room. Its devices stay in the structure.
    public func deleteRoom(_ room: Room) async throws(HomeError) {
        try await model.request(.delete, "/v1/rooms/\(room.id)")
        await model.settle(.rooms) { [id = room.id] in $0.rooms[id] == nil }
    }

    /// Moves a device into a room of this structure, or out of its room.
    /// - Parameter room: the room; nil for none.
    /// - Returns: the device in its new place. The given value does not change.
    @discardableResult
    public func move(device: HomeDevice, to room: Room?) async throws(HomeError) -> HomeDevice {
        try await model.changeDevice(device.id, ["structureID": id, "roomID": room?.id])
    }
}

/// A room of a structure (Home APIs, `Room`). A value is a snapshot.
public struct Room: HomeObject {
    let model: HomeModel
    let record: RoomRecord

    /// The identifier, which never changes.
    public var id: String { record.id }
    /// The name that people gave it; it may be empty.
    public var name: String { record.name }
    /// The structure that the room belongs to.
    public var structureID: String { record.structureID }
    public var objectType: HomeObjectType { .room }

    init(_ model: HomeModel, _ record: RoomRecord) {
        self.model = model
        self.record = record
    }

    public static func == (first: Room, second: Room) -> Bool { first.record == second.record }

    public func hash(into hasher: inout Hasher) { hasher.combine(record) }

    /// Renames the room.
    /// - Returns: the room with its new name. This value does not change.
    @discardableResult
    public func setName(_ name: String) async throws(HomeError) -> Room {
        try await model.changeRoom(.patch, "/v1/rooms/\(id)", ["name": name])
    }
}
