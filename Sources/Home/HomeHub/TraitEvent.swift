import Foundation
import HomeTypes

/// Something that a trait of a device reports once, such as the press of a switch.
public struct TraitEvent: Sendable, Hashable {
    /// The number of the endpoint.
    public var endpoint: UInt16
    /// The trait's name.
    public var trait: String
    /// The event's name, for example `InitialPress`.
    public var name: String
    /// The event's fields as a JSON object.
    public var fields: Data

    /// Describes an event of the vocabulary.
    /// - Throws: `invalidArgument` for fields that violate the vocabulary's constraints.
    public init<Kind: Event>(_ event: Kind, endpoint: UInt16) throws(HomeError) {
        try event.validate()
        self.endpoint = endpoint
        self.trait = Kind.trait.name
        self.name = Kind.name
        do { self.fields = try Self.json(event) } catch {
            throw .encodingFailed("the event \(Kind.name) cannot be written as JSON: \(error)")
        }
    }

    /// Reads an event of the vocabulary; nil for one that it does not have. Members that are not fields of the event are
    /// left out.
    init?(endpoint: UInt16, trait: String, name: String, fields: Data) {
        guard let type = Vocabulary.trait(named: trait), let kind = Vocabulary.event(named: name, of: type),
            let event = try? JSONDecoder().decode(kind, from: fields), let fields = try? Self.json(event)
        else { return nil }
        self.endpoint = endpoint
        self.trait = trait
        self.name = name
        self.fields = fields
    }

    /// Equal events have equal JSON.
    private static func json(_ event: some Event) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(event)
    }
}
