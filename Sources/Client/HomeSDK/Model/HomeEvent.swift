import Foundation
import GatewayClient

/// An event of a device's trait, as it arrives.
struct HomeEvent: Sendable {
    private struct Origin: Decodable {
        var deviceID: String
        var endpoint: Int?
        var timestamp: Date
    }

    /// The event's name on the wire.
    var name: String
    var deviceID: String
    /// The endpoint; nil if the gateway does not report it.
    var endpoint: Int?
    /// When it happened, by the gateway's clock.
    var timestamp: Date
    /// The event's fields as JSON, among others.
    var data: Data

    /// Reads an event; nil for one that does not belong to a device, or is not an event.
    init?(_ event: GatewayEvent) {
        let data = Data(event.data.utf8)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        guard let origin = try? decoder.decode(Origin.self, from: data) else { return nil }
        name = event.name
        deviceID = origin.deviceID
        endpoint = origin.endpoint
        timestamp = origin.timestamp
        self.data = data
    }
}
