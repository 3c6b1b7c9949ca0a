import Foundation
import HomeTypes

/// The data of a trait's event: what all events have, and the event's own fields.
struct TraitEventData: Codable {
    private var deviceID: String
    private var endpoint: UInt16
    private var trait: String
    private var timestamp: Date
    /// The object that the data came from, or the event's fields.
    private var fields: JSONObject

    init(deviceID: String, timestamp: Date, event: TraitEvent) {
        self.deviceID = deviceID
        self.endpoint = event.endpoint
        self.trait = event.trait
        self.timestamp = timestamp
        // `TraitEvent` has read or written the fields as an object.
        self.fields = (try? JSONDecoder().decode(JSONObject.self, from: event.fields)) ?? JSONObject()
    }

    private enum CodingKeys: String, CodingKey { case deviceID, endpoint, trait, timestamp }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        deviceID = try container.decode(String.self, forKey: .deviceID)
        endpoint = try container.decode(UInt16.self, forKey: .endpoint)
        trait = try container.decode(String.self, forKey: .trait)
        timestamp = try container.decode(Date.self, forKey: .timestamp)
        fields = try JSONObject(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
        try fields.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(deviceID, forKey: .deviceID)
        try container.encode(endpoint, forKey: .endpoint)
        try container.encode(trait, forKey: .trait)
        try container.encode(timestamp, forKey: .timestamp)
    }

    /// The change; nil for an event that the vocabulary does not have.
    func read(as name: String) -> HomeChange? {
        guard let body = try? JSONEncoder().encode(fields),
            let event = TraitEvent(endpoint: endpoint, trait: trait, name: name, fields: body)
        else { return nil }
        return .traitEvent(deviceID: deviceID, at: timestamp, event)
    }
}
