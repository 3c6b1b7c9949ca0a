import HomeTypes

/// What a `Structure` contains. Its traits change far more often, so they have subscriptions of their own.
struct StructureContent: Sendable, Hashable, Decodable {
    var id: String
    var name: String
    var address: String?
    var latitude: Double?
    var longitude: Double?
    var timeZone: String?
}

/// What a `HomeDevice` contains: everything except the attributes of its traits. A change of this emits the device
/// again.
struct DeviceContent: Sendable, Hashable {
    /// The types and traits of an endpoint.
    struct Part: Sendable, Hashable {
        var endpoint: Int
        var types: [String]
        var traits: [String]
    }

    var id: String
    var name: String
    var primaryType: String
    var structureID: String?
    var roomID: String?
    var agentID: String?
    var isMatterDevice: Bool
    var connectivity: SourceConnectivity
    var parts: [Part]

    init(_ record: DeviceRecord) {
        id = record.id
        name = record.name
        primaryType = record.type
        structureID = record.structureID
        roomID = record.roomID
        agentID = record.agentID
        isMatterDevice = record.isMatterDevice
        connectivity = record.connectivity
        parts = record.endpoints.map { Part(endpoint: $0.id, types: $0.types, traits: $0.traits.names) }
    }

    /// Whether the device is of a type, or of one that includes it.
    func contains(_ type: any DeviceType.Type) -> Bool { parts.contains { $0.isKind(of: type) } }

    /// Whether the device has a trait.
    func contains(_ trait: any Trait.Type) -> Bool { parts.contains { $0.traits.contains(trait.name) } }
}

extension DeviceContent.Part {
    /// Whether the part is of a type, or of one that includes it.
    func isKind(of type: any DeviceType.Type) -> Bool {
        types.contains { Vocabulary.deviceType(named: $0)?.isKind(of: type) ?? false }
    }
}
