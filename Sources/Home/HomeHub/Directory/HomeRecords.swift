import Foundation

/// A device as the home keeps it, whichever backend it comes from.
public struct DeviceRecord: Sendable, Codable, Hashable {
    /// The identifier, which the home minted. It stays for the device's whole life and is never used again.
    public var id: String
    /// What the config or the backend calls the device.
    public var key: String
    /// The name that somebody gave it over the API; nil while the config's name counts.
    public var name: String?
    /// The structure that it is in.
    public var structureID: String
    /// The room that it is in; nil for none.
    public var roomID: String?
    /// The room that its backend named last. The device moves when the backend names another room. Until then it stays
    /// where somebody has put it.
    public var suggestedRoom: String?
    /// When it was decommissioned; nil for a device of the home.
    public var removedAt: Date?
    /// Which sound of a camera's speaker was chosen; nil while nobody has.
    public var chime: ChimeChoice?
}

/// The sound of a camera's speaker that somebody has chosen.
public struct ChimeChoice: Sendable, Codable, Hashable {
    /// The number of the sound; nil for the first one.
    public var selected: UInt8?
    /// Whether the speaker makes a sound; nil for yes.
    public var isEnabled: Bool?
}

/// A building, with what the home needs to know about its place.
public struct StructureRecord: Sendable, Codable, Hashable {
    /// The identifier.
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
    /// When it was created. The home lists the oldest first.
    public var createdAt: Date
}

/// A room of a structure.
public struct RoomRecord: Sendable, Codable, Hashable {
    /// The identifier.
    public var id: String
    /// The name that people read.
    public var name: String
    /// The structure that it belongs to.
    public var structureID: String
    /// When it was created. The home lists the oldest first.
    public var createdAt: Date
}
