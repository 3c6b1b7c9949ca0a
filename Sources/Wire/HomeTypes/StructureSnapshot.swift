/// A structure of the home, such as a house: the response of `GET /v1/structures/{structure}`.
public struct StructureSnapshot: Sendable, Codable, Hashable, Identifiable {
    /// The identifier, which stays for the structure's whole life.
    public var id: String
    /// The name that people read.
    public var name: String
    /// The postal address, as somebody wrote it.
    public var address: String?
    /// Degrees north of the equator; nil if the place is unknown.
    public var latitude: Double?
    /// Degrees east of Greenwich; nil if the place is unknown.
    public var longitude: Double?
    /// The time zone, by its name in the IANA database.
    public var timeZone: String
    /// Its traits: who is at home and, if the structure itself was requested, the time.
    public var traits: TraitCollection

    /// Describes a structure.
    public init(
        id: String, name: String, address: String? = nil, latitude: Double? = nil, longitude: Double? = nil,
        timeZone: String, traits: TraitCollection = TraitCollection()
    ) {
        self.id = id
        self.name = name
        self.address = address
        self.latitude = latitude
        self.longitude = longitude
        self.timeZone = timeZone
        self.traits = traits
    }
}

/// A room of a structure: the response of `GET /v1/rooms/{room}`.
public struct RoomSnapshot: Sendable, Codable, Hashable, Identifiable {
    /// The identifier, which stays for the room's whole life.
    public var id: String
    /// The name that people read.
    public var name: String
    /// The structure that it belongs to.
    public var structureID: String

    /// Describes a room.
    public init(id: String, name: String, structureID: String) {
        self.id = id
        self.name = name
        self.structureID = structureID
    }
}
