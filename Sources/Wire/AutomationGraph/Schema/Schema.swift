import HomeTypes
import Synchronization

/// What the fields of the vocabulary are, as the types themselves say when they are decoded. It therefore knows the traits
/// of vendors, too.
public enum Schema {
    private struct Known {
        var fields: [ObjectIdentifier: [FieldSchema]] = [:]
        var ranges: [ObjectIdentifier: [String: NumberRange]] = [:]
        /// For each type of attributes, a value for each attribute that has only this one.
        var probes: [ObjectIdentifier: [(name: String, attributes: any TraitAttributes)]] = [:]
    }

    private static let known = Mutex(Known())

    /// The fields of a record, in the order in which they are read.
    public static func fields(of record: any VocabularyRecord.Type) -> [FieldSchema] {
        let key = ObjectIdentifier(record)
        if let fields = known.withLock({ $0.fields[key] }) { return fields }
        let node = SchemaNode()
        // A type that cannot be read from samples has the fields that it has asked for until then.
        _ = try? record.init(from: SchemaDecoder(node))
        var fields: [FieldSchema] = []
        if case .record(let found) = node.kind { fields = found }
        known.withLock { $0.fields[key] = fields }
        return fields
    }

    /// The ranges of a record's integers, by their names.
    public static func ranges(of record: any VocabularyRecord.Type) -> [String: NumberRange] {
        let key = ObjectIdentifier(record)
        if let ranges = known.withLock({ $0.ranges[key] }) { return ranges }
        func find<Record: VocabularyRecord>(_ record: Record.Type) -> [String: NumberRange] {
            (try? record.init(from: SchemaDecoder(SchemaNode()))).map { Constraint.ranges(of: $0) } ?? [:]
        }
        let ranges = find(record)
        known.withLock { $0.ranges[key] = ranges }
        return ranges
    }

    /// The ranges of a trait's attributes, by their names.
    public static func attributeRanges(of trait: any Trait.Type) -> [String: NumberRange] {
        func ranges<Kind: Trait>(_ trait: Kind.Type) -> [String: NumberRange] { Self.ranges(of: Kind.Attributes.self) }
        return ranges(trait)
    }

    /// The attributes that each trait has for the sake of the protocol (Matter Core, section 7.13). They describe the
    /// device, and are not part of its state.
    public static let globalAttributes: Set<String> = [
        "acceptedCommandList", "generatedCommandList", "attributeList", "featureMap", "clusterRevision",
    ]

    /// The attributes of a trait.
    public static func attributes(of trait: any Trait.Type) -> [FieldSchema] {
        func fields<Kind: Trait>(_ trait: Kind.Type) -> [FieldSchema] { Self.fields(of: Kind.Attributes.self) }
        return fields(trait)
    }

    /// The name of an attribute; nil for a path that leads to something else.
    ///
    /// A path does not say its name. So it is applied to values that have one attribute each.
    public static func name<Kind: Trait, Value>(
        of path: KeyPath<Kind.Attributes, Value?>, in trait: Kind.Type
    ) -> String? {
        probes(of: Kind.Attributes.self).first { probe in
            (probe.attributes as? Kind.Attributes)?[keyPath: path] != nil
        }?.name
    }

    /// The name of an event's field; nil for a path that leads to something else.
    ///
    /// A path does not say its name, and fields that must be there cannot be left out. So it is applied to samples of which
    /// each differs from the usual one in one field.
    public static func fieldName<Kind: Event, Value: Equatable>(
        of path: KeyPath<Kind, Value>, in event: Kind.Type
    ) -> String? {
        // The whole event differs with each field.
        guard ObjectIdentifier(Value.self) != ObjectIdentifier(Kind.self),
            let usual = try? Kind(from: SchemaDecoder(SchemaNode()))
        else { return nil }
        return fields(of: event).first { field in
            let changed = try? Kind(from: SchemaDecoder(SchemaNode(), changed: field.name))
            return changed.map { $0[keyPath: path] != usual[keyPath: path] } ?? false
        }?.name
    }

    private static func probes<Attributes: TraitAttributes>(
        of attributes: Attributes.Type
    ) -> [(name: String, attributes: any TraitAttributes)] {
        let key = ObjectIdentifier(attributes)
        if let probes = known.withLock({ $0.probes[key] }) { return probes }
        let probes = Attributes.names.compactMap { name -> (name: String, attributes: any TraitAttributes)? in
            let decoder = SchemaDecoder(SchemaNode(), only: name)
            return (try? Attributes(from: decoder)).map { (name, $0) }
        }
        known.withLock { $0.probes[key] = probes }
        return probes
    }
}
