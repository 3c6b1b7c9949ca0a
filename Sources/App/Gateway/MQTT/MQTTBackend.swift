import Foundation
import HomeHub
import HomeTypes
import MQTTDevices
import Transport

/// The way to the broker. It changes when the config is read again, and the devices stay.
final class MQTTLink: Sendable {
    private let current = Locked<MQTTBridge?>(nil)

    /// The bridge in use; nil without a broker.
    var bridge: MQTTBridge? { current.withLock { $0 } }

    /// Leads to another bridge.
    func use(_ bridge: MQTTBridge?) { current.withLock { $0 = bridge } }
}

/// The home's side of a device on an MQTT broker.
///
/// A command has succeeded when its messages are on their way to the broker. The device may act on them or not: the state
/// changes when the device reports it, and a device that reports none is treated as having carried out every command.
final class MQTTBackend: DeviceBackend {
    let deviceID: String
    private let key: String
    private let link: MQTTLink
    private let reports = MQTTUpdates()

    /// Makes the backend of the device with this key on the broker.
    init(deviceID: String, key: String, link: MQTTLink) {
        self.deviceID = deviceID
        self.key = key
        self.link = link
    }

    func updates() -> AsyncStream<DeviceUpdate> { reports.stream }

    /// Hands the home what the broker has reported.
    func report(_ update: DeviceUpdate) { reports.add(update) }

    /// The device has left.
    func finish() { reports.finish() }

    /// How many events gave way because the home did not read them.
    var dropped: Int { reports.dropped }

    func execute(_ call: CommandCall, body: Data) async throws(HomeError) -> CommandOutcome {
        let parameters: JSONValue
        do throws(JSONFailure) {
            parameters = body.isEmpty ? [:] : try JSONValue(parsing: body)
        } catch {
            throw HomeError.parseError("the parameters of \(call.command) are not JSON: \(error)")
        }
        try await bridge().perform(
            key: key, endpoint: Int(call.endpoint ?? 1), trait: call.trait, command: call.command,
            parameters: parameters)
        return CommandOutcome()
    }

    func write(_ write: AttributeWrite) async throws(HomeError) -> CommandOutcome {
        let attributes: [String: JSONValue]
        do {
            attributes = try JSONValue(parsing: JSONEncoder().encode(write.trait)).object ?? [:]
        } catch {
            throw HomeError.encodingFailed("the attributes cannot be written as JSON: \(error)")
        }
        try await bridge().write(
            key: key, endpoint: Int(write.endpoint), trait: type(of: write.trait).name, attributes: attributes)
        return CommandOutcome()
    }

    private func bridge() throws(HomeError) -> MQTTBridge {
        guard let bridge = link.bridge else {
            throw HomeError.unavailable("no MQTT broker is configured, so the device cannot be reached")
        }
        return bridge
    }
}
