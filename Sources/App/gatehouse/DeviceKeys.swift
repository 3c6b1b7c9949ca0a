import Foundation
import GatewayClient

/// What people call the devices, for output that they read.
struct DeviceKeys {
    private struct Device: Decodable {
        var id: String
        var key: String?
    }

    private struct Answer: Decodable {
        var devices: [Device]
    }

    private var keys: [String: String] = [:]

    /// Asks a gateway for its devices.
    init(_ connection: GatewayConnection) async throws {
        let data = try await connection.get("/v1/devices")
        for device in try connection.decode(Answer.self, data).devices { keys[device.id] = device.key }
    }

    /// The key of a device, or its identifier if it has none.
    subscript(id: String) -> String { keys[id] ?? id }

    /// Learns a device from the event `device` or `deviceAdded`. Other events are left out.
    mutating func take(_ event: String, _ data: Data) {
        guard event == "device" || event == "deviceAdded",
            let device = try? JSONDecoder().decode(Device.self, from: data)
        else { return }
        keys[device.id] = device.key
    }
}
