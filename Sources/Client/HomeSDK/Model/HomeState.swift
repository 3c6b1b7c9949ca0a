import Foundation
import HomeTypes

/// A structure as the gateway sends it.
struct StructureRecord: Sendable, Hashable, Decodable {
    var content: StructureContent
    var traits: TraitCollection

    private enum CodingKeys: CodingKey {
        case traits
    }

    init(from decoder: any Decoder) throws {
        content = try StructureContent(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        traits = try container.decodeIfPresent(TraitCollection.self, forKey: .traits) ?? TraitCollection()
    }
}

/// A room as the gateway sends it.
struct RoomRecord: Sendable, Hashable, Decodable {
    var id: String
    var name: String
    var structureID: String
}

/// Everything that the client knows of the home.
struct HomeState: Sendable {
    /// What a subscription depends on.
    enum Topic: Hashable, Sendable {
        /// The set of structures, and what their objects contain.
        case structures
        /// The set of rooms, and what their objects contain.
        case rooms
        /// The set of devices, and what their objects contain; not the attributes of traits.
        case devices
        /// Everything of one device.
        case device(String)
        /// Everything of one structure.
        case structure(String)
    }

    var structures: [String: StructureRecord] = [:]
    var rooms: [String: RoomRecord] = [:]
    var devices: [String: DeviceRecord] = [:]

    /// Applies a structure; nil for one that is gone.
    /// - Returns: what has changed.
    mutating func set(_ record: StructureRecord?, structure id: String) -> Set<Topic> {
        let old = structures[id]
        guard old != record else { return [] }
        structures[id] = record
        return old?.content == record?.content ? [.structure(id)] : [.structures, .structure(id)]
    }

    /// Applies a room; nil for one that is gone.
    mutating func set(_ record: RoomRecord?, room id: String) -> Set<Topic> {
        guard rooms[id] != record else { return [] }
        rooms[id] = record
        return [.rooms]
    }

    /// Applies a device; nil for one that is gone.
    mutating func set(_ record: DeviceRecord?, device id: String) -> Set<Topic> {
        let old = devices[id]
        guard old != record else { return [] }
        devices[id] = record
        return old.map(DeviceContent.init) == record.map(DeviceContent.init)
            ? [.device(id)] : [.devices, .device(id)]
    }

    /// Replaces this state with another one.
    mutating func replace(with newer: HomeState) -> Set<Topic> {
        var changed: Set<Topic> = []
        for id in Set(structures.keys).union(newer.structures.keys) {
            changed.formUnion(set(newer.structures[id], structure: id))
        }
        for id in Set(rooms.keys).union(newer.rooms.keys) { changed.formUnion(set(newer.rooms[id], room: id)) }
        for id in Set(devices.keys).union(newer.devices.keys) { changed.formUnion(set(newer.devices[id], device: id)) }
        return changed
    }
}
