/// A type of a device: what it is, and the traits that it has as such (Home APIs, `DeviceType`). A value is a snapshot.
public protocol DeviceType: Sendable, Hashable {
    /// The type's name, for example `GoogleCameraDeviceType`.
    static var name: String { get }
    /// The scoped identifier of the type.
    static var identifier: String { get }
    /// False for types that a person uses, true for helpers such as the root node.
    static var isUtilityType: Bool { get }
    /// The traits that a device of this type must have.
    static var requiredTraits: [any Trait.Type] { get }
    /// The types that a device of this type also is, nearest first: a dimmable light is also an on/off light.
    static var supertypes: [any DeviceType.Type] { get }
    /// What is known about the type besides its traits.
    var metadata: DeviceTypeMetadata { get }
    /// The traits.
    var traits: TraitCollection { get }

    /// Describes a device as this type.
    /// - Throws: `failedPrecondition` if a required trait is missing.
    init(traits: TraitCollection, metadata: DeviceTypeMetadata) throws(HomeError)
}

extension DeviceType {
    /// Whether a device of this type is also one of another type.
    public static func isKind(of other: any DeviceType.Type) -> Bool {
        identifier == other.identifier || supertypes.contains { $0.identifier == other.identifier }
    }

    /// The type and its traits by their names, for logs.
    public var debugDescription: String {
        "\(Self.name)(\(traits.names.joined(separator: ", ")))"
    }

    /// Checks that the required traits are present.
    /// - Throws: `failedPrecondition`, which names the missing trait.
    public static func requireTraits(in traits: TraitCollection) throws(HomeError) {
        for trait in requiredTraits where !traits.contains(trait) {
            throw .failedPrecondition("a \(name) must have the trait \(trait.name)")
        }
    }
}

/// What is known about a device's type besides its traits.
public struct DeviceTypeMetadata: Sendable, Codable, Hashable {
    /// Whether the type is the main one of the device: the one that a person would name.
    public var isPrimaryType: Bool
    /// The aggregated connectivity of the type's traits.
    public var sourceConnectivity: SourceConnectivity

    /// Describes a type.
    public init(
        isPrimaryType: Bool = false,
        sourceConnectivity: SourceConnectivity = .init(connectivityState: .unknown, dataSourceLocality: .unspecified)
    ) {
        self.isPrimaryType = isPrimaryType
        self.sourceConnectivity = sourceConnectivity
    }
}
