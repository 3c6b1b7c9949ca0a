import HomeTypes

/// Attributes of traits, by their names on the wire: a report of some of them, or all that are known.
public struct TraitValues: Sendable, Hashable {
    /// The attributes of each trait, by the trait's name.
    public private(set) var traits: [String: [String: JSONValue]] = [:]

    /// No attribute of any trait.
    public init() {}

    /// The attributes of one trait.
    init(_ trait: String, _ attributes: [String: JSONValue]) { traits[trait] = attributes }

    /// Whether there is nothing in it.
    public var isEmpty: Bool { traits.isEmpty }

    /// The value of an attribute; nil if it is unknown.
    public subscript(trait: String, attribute: String) -> JSONValue? {
        get { traits[trait]?[attribute] }
        set { traits[trait, default: [:]][attribute] = newValue }
    }

    /// Declares that the device has `trait`, even while its attributes are unknown.
    mutating func add(_ trait: String) { traits[trait, default: [:]] = traits[trait] ?? [:] }

    /// Declares which commands of a trait the device accepts, if these are not all.
    mutating func accept(_ commands: [any Command.Type], of trait: any Trait.Type) {
        self[trait.name, "acceptedCommandList"] = .array(commands.map { Int($0.id) }.sorted().map(JSONValue.integer))
    }

    /// Adopts the attributes of `newer`.
    mutating func merge(_ newer: TraitValues) {
        traits.merge(newer.traits) { old, new in old.merging(new) { $1 } }
    }

    /// The attributes that `other` does not have, or that have another value there.
    func difference(to other: TraitValues) -> TraitValues {
        var result = TraitValues()
        for (trait, attributes) in traits {
            let changed = attributes.filter { other.traits[trait]?[$0.key] != $0.value }
            if !changed.isEmpty || other.traits[trait] == nil { result.traits[trait] = changed }
        }
        return result
    }

    /// The attributes as JSON: an object with an object for each trait.
    public var json: JSONValue { .object(traits.mapValues(JSONValue.object)) }
}
