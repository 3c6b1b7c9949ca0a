/// Traits with their attributes, by name. A trait that the device does not have is left out.
public struct TraitCollection: Sendable {
    private var traits: [String: any Trait] = [:]

    /// Collects traits. Of two traits of the same type, the last counts.
    public init(_ traits: [any Trait] = []) {
        for trait in traits { self.traits[type(of: trait).name] = trait }
    }

    /// All traits, in the order of their identifiers.
    public var all: [any Trait] {
        traits.values.sorted { type(of: $0).identifier < type(of: $1).identifier }
    }

    /// The names of all traits, in the order of their identifiers.
    public var names: [String] { all.map { type(of: $0).name } }

    /// Whether there is no trait.
    public var isEmpty: Bool { traits.isEmpty }

    /// The trait with this name; nil if the device does not have it.
    public subscript(name: String) -> (any Trait)? { traits[name] }

    /// The trait of this type; nil if the device does not have it.
    public subscript<Wanted: Trait>(type: Wanted.Type) -> Wanted? {
        get { traits[Wanted.name] as? Wanted }
        set { traits[Wanted.name] = newValue }
    }

    /// Whether the device has the trait.
    public func contains(_ type: any Trait.Type) -> Bool { traits[type.name] != nil }

    /// Sets the attributes of a trait.
    public mutating func set(_ trait: any Trait) { traits[type(of: trait).name] = trait }

    /// Removes a trait.
    public mutating func remove(_ type: any Trait.Type) { traits[type.name] = nil }

    /// Adopts the attributes that newer reports contain. Other attributes and traits stay as they are.
    public mutating func merge(_ newer: TraitCollection) {
        for (name, trait) in newer.traits {
            traits[name] = traits[name]?.merged(with: trait) ?? trait
        }
    }
}

extension Trait {
    /// This trait with the attributes of a newer report; only the report if it is of another type.
    fileprivate func merged(with newer: any Trait) -> any Trait {
        guard let newer = newer as? Self else { return newer }
        var attributes = self.attributes
        attributes.merge(newer.attributes)
        return Self(attributes: attributes, metadata: newer.metadata, interaction: newer.interaction)
    }

    fileprivate func equals(_ other: any Trait) -> Bool { (other as? Self) == self }
}

extension TraitCollection: Hashable {
    public static func == (first: TraitCollection, second: TraitCollection) -> Bool {
        guard first.traits.count == second.traits.count else { return false }
        return first.traits.allSatisfy { name, trait in second.traits[name].map { trait.equals($0) } ?? false }
    }

    public func hash(into hasher: inout Hasher) {
        for trait in all { trait.hash(into: &hasher) }
    }
}

extension TraitCollection: Codable {
    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Reads the traits that the vocabulary has. Traits of a newer gateway, and unregistered traits of a vendor, are
    /// left out.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Name.self)
        self.init()
        for key in container.allKeys {
            guard let trait = Vocabulary.trait(named: key.stringValue) else { continue }
            traits[trait.name] = try container.decode(trait, forKey: key)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for (name, trait) in traits { try container.encode(trait, forKey: Name(stringValue: name)) }
    }
}
