public import HomeTypes

/// A structure or a room as the Smart Device Management API describes it.
///
/// Source: Device Access reference, `enterprises.structures` and `enterprises.structures.rooms`.
public struct SDMPlace: Encodable, Sendable, Equatable {
    /// The one trait that a place has.
    public struct Info: Encodable, Sendable, Equatable {
        /// What people call it.
        public var customName: String
    }

    /// `enterprises/PROJECT/structures/STRUCTURE`, for a room with `/rooms/ROOM`.
    public var name: String
    /// Its trait, by the trait's name.
    public var traits: [String: Info]

    /// Describes a structure.
    public init(_ structure: StructureSnapshot, project: String) {
        self.name = Self.name(ofStructure: structure.id, project: project)
        self.traits = ["sdm.structures.traits.Info": Info(customName: structure.name)]
    }

    /// Describes a room.
    public init(_ room: RoomSnapshot, project: String) {
        self.name = Self.name(ofRoom: room.id, in: room.structureID, project: project)
        traits = ["sdm.structures.traits.RoomInfo": Info(customName: room.name)]
    }

    /// The resource name of a structure.
    public static func name(ofStructure id: String, project: String) -> String {
        "enterprises/\(project)/structures/\(id)"
    }

    /// The resource name of a room.
    public static func name(ofRoom id: String, in structure: String, project: String) -> String {
        "\(name(ofStructure: structure, project: project))/rooms/\(id)"
    }
}

extension SDMParent {
    /// The room that a device is in, or its structure if it is not in a room; nil if the caller may see neither.
    public init?(
        of device: DeviceSnapshot, structures: [StructureSnapshot], rooms: [RoomSnapshot], project: String
    ) {
        if let room = rooms.first(where: { $0.id == device.roomID }) {
            self.init(
                parent: SDMPlace.name(ofRoom: room.id, in: room.structureID, project: project), displayName: room.name)
        } else if let structure = structures.first(where: { $0.id == device.structureID }) {
            self.init(
                parent: SDMPlace.name(ofStructure: structure.id, project: project), displayName: structure.name)
        } else {
            return nil
        }
    }
}
