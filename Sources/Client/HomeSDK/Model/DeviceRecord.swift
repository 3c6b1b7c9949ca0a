import Foundation
import HomeTypes

/// A device as the gateway sends it.
struct DeviceRecord: Sendable, Hashable, Decodable {
    var id: String
    var name: String
    /// The name of the primary type.
    var type: String
    var structureID: String?
    var roomID: String?
    var agentID: String?
    var isMatterDevice: Bool
    var connectivity: SourceConnectivity
    var endpoints: [EndpointRecord]

    private enum CodingKeys: String, CodingKey {
        case id, name, type, structureID, roomID, agentID, isMatterDevice, endpoints
        case connectivityState, dataSourceLocality
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        name = try container.decode(String.self, forKey: .name)
        type = try container.decode(String.self, forKey: .type)
        structureID = try container.decodeIfPresent(String.self, forKey: .structureID)
        roomID = try container.decodeIfPresent(String.self, forKey: .roomID)
        agentID = try container.decodeIfPresent(String.self, forKey: .agentID)
        isMatterDevice = try container.decode(Bool.self, forKey: .isMatterDevice)
        connectivity = try SourceConnectivity(from: decoder)
        endpoints = try container.decode([EndpointRecord].self, forKey: .endpoints)
        endpoints.sort { $0.id < $1.id }
    }
}

/// A part of a device with its own types and traits, as the gateway sends it.
struct EndpointRecord: Sendable, Hashable, Decodable {
    var id: Int
    /// The names of the types, the most specific first.
    var types: [String]
    /// The traits with their connectivity. They do not accept commands.
    var traits: TraitCollection
    var connectivity: SourceConnectivity

    private enum CodingKeys: String, CodingKey {
        case id, types, traits, traitConnectivity
    }

    private struct TraitName: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        types = try container.decode([String].self, forKey: .types)
        connectivity = try SourceConnectivity(from: decoder)
        let differing =
            try container.decodeIfPresent([String: SourceConnectivity].self, forKey: .traitConnectivity) ?? [:]
        traits = TraitCollection()
        let values = try container.nestedContainer(keyedBy: TraitName.self, forKey: .traits)
        for key in values.allKeys {
            // A trait that this version does not know, or cannot read, is left out: the others are still usable.
            guard let type = Vocabulary.trait(named: key.stringValue), let trait = try? values.decode(type, forKey: key)
            else { continue }
            traits.set(trait.with(TraitMetadata(sourceConnectivity: differing[key.stringValue] ?? connectivity)))
        }
    }
}

extension Trait {
    /// The same state with other metadata, and optionally with a way to its device.
    func with(_ metadata: TraitMetadata, _ interaction: (any TraitInteraction)? = nil) -> Self {
        Self(attributes: attributes, metadata: metadata, interaction: interaction)
    }
}
