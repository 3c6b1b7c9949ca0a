import Foundation

/// An endpoint of a device as cloud-to-cloud sees it: its types and the attributes of its traits, as JSON. The cloud has no
/// endpoints, so each is a device there.
public struct CloudEndpoint: Sendable, Equatable {
    /// The id in the cloud's messages.
    public var id: String
    /// The device in the home.
    public var deviceID: String
    /// The endpoint's number in the device; nil to have the home choose one.
    public var number: UInt16?
    /// The ids of the device's other endpoints in the cloud's messages.
    public var siblings: [String] = []
    /// What people call it.
    public var name: String
    /// The names of its types, the most specific first.
    public var types: [String]
    /// The attributes of each trait, by the trait's name.
    public var traits: [String: JSONValue]
    /// Whether it can be reached.
    public var isOnline: Bool
    /// The room that it is in; nil for none.
    public var roomName: String?

    /// Describes an endpoint.
    public init(
        id: String, deviceID: String? = nil, number: UInt16? = nil, name: String, types: [String],
        traits: [String: JSONValue], isOnline: Bool, roomName: String? = nil
    ) {
        self.id = id
        self.deviceID = deviceID ?? id
        self.number = number
        self.name = name
        self.types = types
        self.traits = traits
        self.isOnline = isOnline
        self.roomName = roomName
    }

    /// An attribute, `onOff` of a trait itself or `LevelControl.currentLevel` of another; nil if it is not supported or
    /// null.
    func attribute(_ name: String, of trait: String) -> JSONValue? {
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        let (owner, member) = parts.count == 2 ? (parts[0], parts[1]) : (trait, name)
        guard case .object(let attributes)? = traits[owner], let value = attributes[member], value != .null else {
            return nil
        }
        return value
    }

    /// The mappings that apply, each with our trait that it belongs to, in the order of the traits' names.
    func mappings(of table: CloudTable) -> [(trait: String, mapping: CloudMapping)] {
        let names = Set(traits.keys)
        return names.sorted().flatMap { name in
            (table.traits[name] ?? []).filter { $0.applies(to: types, traits: names) }.map { (name, $0) }
        }
    }
}
