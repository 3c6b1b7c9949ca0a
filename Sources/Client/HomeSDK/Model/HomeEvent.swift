import Foundation
import GatewayClient

/// An event of a device's trait, as it arrives.
struct HomeEvent: Sendable {
    private struct Origin: Decodable {
        var deviceID: String
        var endpoint: Int?
    }

    /// The event's name on the wire.
    var name: String
    var deviceID: String
    /// The endpoint; nil where the gateway does not say.
    var endpoint: Int?
    /// The event's fields as JSON, among others.
    var data: Data

    /// Reads an event; nil for one that belongs to no device.
    init?(_ event: GatewayEvent) {
        let data = Data(event.data.utf8)
        guard let origin = try? JSONDecoder().decode(Origin.self, from: data) else { return nil }
        name = event.name
        deviceID = origin.deviceID
        endpoint = origin.endpoint
        self.data = data
    }
}
