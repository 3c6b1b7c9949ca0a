import HomeTypes

/// A part of a device as its backend describes it.
public struct EndpointDescription: Sendable, Hashable {
    /// The number of the root node, which describes the device as a whole.
    public static let root: UInt16 = 0

    /// The part's number in the device.
    public var id: UInt16
    /// The names of its device types, the most specific first.
    public var types: [String]
    /// Its traits, with what is known of their attributes.
    public var traits: TraitCollection
    /// The connectivity of all traits without one of their own.
    public var connectivity: SourceConnectivity
    /// The connectivity of single traits, by their names.
    public var traitConnectivity: [String: SourceConnectivity]

    /// Describes a part.
    public init(
        id: UInt16, types: [any DeviceType.Type], traits: TraitCollection = TraitCollection(),
        connectivity: SourceConnectivity = .init(connectivityState: .unknown, dataSourceLocality: .unspecified),
        traitConnectivity: [String: SourceConnectivity] = [:]
    ) {
        self.id = id
        self.types = types.map { $0.name }
        self.traits = traits
        self.connectivity = connectivity
        self.traitConnectivity = traitConnectivity
    }

    /// The part as clients see it.
    var snapshot: EndpointSnapshot {
        EndpointSnapshot(
            id: id, types: types, traits: traits, connectivity: connectivity, traitConnectivity: traitConnectivity)
    }
}
