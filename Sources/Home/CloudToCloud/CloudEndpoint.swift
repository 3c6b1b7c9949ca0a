public import Foundation
public import HomeTypes

/// A device of the home as cloud-to-cloud sees it: its types and the attributes of its traits, as JSON.
public struct CloudEndpoint: Sendable, Equatable {
    /// The id in the cloud's messages.
    public var id: String
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
        id: String, name: String, types: [String], traits: [String: JSONValue], isOnline: Bool, roomName: String? = nil
    ) {
        self.id = id
        self.name = name
        self.types = types
        self.traits = traits
        self.isOnline = isOnline
        self.roomName = roomName
    }

    /// An attribute, `onOff` of a trait itself or `LevelControl.currentLevel` of another; nil where it is not supported or
    /// null.
    func attribute(_ name: String, of trait: String) -> JSONValue? {
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        let (owner, member) = parts.count == 2 ? (parts[0], parts[1]) : (trait, name)
        guard case .object(let attributes)? = traits[owner], let value = attributes[member], value != .null else {
            return nil
        }
        return value
    }

    /// The mappings that apply, each with the trait of ours that it belongs to, in the order of the traits' names.
    func mappings(of table: CloudTable) -> [(trait: String, mapping: CloudMapping)] {
        let names = Set(traits.keys)
        return names.sorted().flatMap { name in
            (table.traits[name] ?? []).filter { $0.applies(to: types, traits: names) }.map { (name, $0) }
        }
    }
}

/// The mappings of all traits and device types.
public struct CloudTable: Sendable {
    /// The mappings of each trait, by its name.
    public var traits: [String: [CloudMapping]]
    /// The cloud's device types, by the names of ours.
    public var types: [String: String]

    /// Reads mappings in the form of the data files.
    /// - Parameter traits: the list of mappings of each trait, as JSON.
    public init(traits: [String: String], types: [String: String]) throws {
        let decoder = JSONDecoder()
        self.traits = try traits.mapValues { try decoder.decode([CloudMapping].self, from: Data($0.utf8)) }
        self.types = types
    }

    /// Those of the vocabulary.
    public static let standard: CloudTable = {
        do {
            return try CloudTable(traits: CloudMappings.traits, types: CloudMappings.types)
        } catch {
            // Proof: the texts are constants that tools/generate-traits writes, and a test reads each of them.
            fatalError("a mapping of the vocabulary cannot be read: \(error)")
        }
    }()
}
