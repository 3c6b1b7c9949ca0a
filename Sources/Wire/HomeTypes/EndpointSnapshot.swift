/// A part of a device that has types and traits of its own, as Matter has them: a lamp with two bulbs has two.
public struct EndpointSnapshot: Sendable, Codable, Hashable, Identifiable {
    /// The part's number in the device. 0 is the root node, which describes the device as a whole.
    public var id: UInt16
    /// The names of its device types, the most specific first. Their supertypes are not listed.
    public var types: [String]
    /// Its traits.
    public var traits: TraitCollection
    /// Whether the part can be reached, aggregated over its traits.
    public var connectivityState: ConnectivityState
    /// How it is reached, aggregated over its traits.
    public var dataSourceLocality: LocalityType
    /// The connectivity of the traits that differ from the part's, by their names; nil if none differs.
    public var traitConnectivity: [String: SourceConnectivity]?

    /// Describes a part.
    /// - Parameters:
    ///   - connectivity: that of all traits without one of their own.
    ///   - traitConnectivity: that of single traits, by their names.
    public init(
        id: UInt16, types: [String], traits: TraitCollection, connectivity: SourceConnectivity,
        traitConnectivity: [String: SourceConnectivity] = [:]
    ) {
        self.id = id
        self.types = types
        self.traits = traits
        let names = traits.names
        let parts = names.map { traitConnectivity[$0] ?? connectivity }
        let whole = parts.isEmpty ? connectivity : SourceConnectivity(aggregating: parts)
        self.connectivityState = whole.connectivityState
        self.dataSourceLocality = whole.dataSourceLocality
        let different = zip(names, parts).filter { $1 != whole }
        self.traitConnectivity = different.isEmpty ? nil : Dictionary(different) { first, _ in first }
    }

    /// The aggregated connectivity.
    public var connectivity: SourceConnectivity {
        SourceConnectivity(connectivityState: connectivityState, dataSourceLocality: dataSourceLocality)
    }

    /// The connectivity of one trait.
    public func connectivity(ofTrait name: String) -> SourceConnectivity {
        traitConnectivity?[name] ?? connectivity
    }

    /// Whether the part only helps the others: all its types are utility types.
    public var isUtility: Bool {
        types.allSatisfy { Vocabulary.deviceType(named: $0)?.isUtilityType ?? false }
    }
}
