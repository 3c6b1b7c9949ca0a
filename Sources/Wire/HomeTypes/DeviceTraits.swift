/// The traits of a device with their attributes. A trait that the device lacks is left out.
public struct DeviceTraits: Sendable {
    private var traits: [String: any Trait] = [:]

    /// Collects traits. Of two of one type the last counts.
    public init(_ traits: [any Trait] = []) {
        for trait in traits { self.traits[type(of: trait).name] = trait }
    }

    /// All traits that the device has, in the order of the vocabulary.
    public var all: [any Trait] { Vocabulary.traits.compactMap { self.traits[$0.name] } }

    /// The trait of this name, or nil when the device lacks it.
    public subscript(name: String) -> (any Trait)? { self.traits[name] }

    /// Sets the attributes of a trait.
    public mutating func set(_ trait: any Trait) { self.traits[type(of: trait).name] = trait }

    /// The trait of this type, or nil when the device lacks it.
    public subscript<Wanted: Trait>(type: Wanted.Type) -> Wanted? {
        get { self.traits[Wanted.name] as? Wanted }
        set { self.traits[Wanted.name] = newValue }
    }
}

extension DeviceTraits: Hashable {
    public static func == (first: DeviceTraits, second: DeviceTraits) -> Bool {
        first.traits.mapValues { AnyHashable($0) } == second.traits.mapValues { AnyHashable($0) }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.traits.mapValues { AnyHashable($0) })
    }
}

extension DeviceTraits: Codable {
    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Reads the traits that this vocabulary has. Those of a newer gateway are left out.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Name.self)
        self.init()
        for trait in Vocabulary.traits {
            let key = Name(stringValue: trait.name)
            if container.contains(key) { self.traits[trait.name] = try container.decode(trait, forKey: key) }
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for (name, trait) in self.traits { try container.encode(trait, forKey: Name(stringValue: name)) }
    }
}
