import Foundation
import Transport

@testable import MQTTDevices

/// A home without a broker: a test hands it messages and reads what it reports.
struct HomeOnTable {
    var home: MQTTHome
    var now = Instant.zero
    var reports: [MQTTDeviceReport] = []
    var subscriptions: Set<String>

    init(settings: MQTTHome.Settings = .init()) {
        home = MQTTHome(settings: settings)
        subscriptions = home.allSubscriptions
        take(home.connectionChanged(isConnected: true))
    }

    mutating func receive(_ topic: String, _ payload: String, isRetained: Bool = false) {
        now += .milliseconds(1)
        take(home.handle(.init(topic: topic, payload: Data(payload.utf8), isRetained: isRetained), at: now))
    }

    /// Waits until all descriptions have come to rest.
    mutating func settle() {
        now += .seconds(6)
        take(home.handleDeadline(at: now))
    }

    mutating func take(_ effects: MQTTHome.Effects) {
        subscriptions.subtract(effects.endedSubscriptions)
        subscriptions.formUnion(effects.subscriptions)
        reports += effects.reports
    }

    mutating func connectionChanged(isConnected: Bool) { take(home.connectionChanged(isConnected: isConnected)) }

    /// What was reported since the last call.
    mutating func takeReports() -> [MQTTDeviceReport] {
        defer { reports = [] }
        return reports
    }

    /// The devices as they were described last.
    var devices: [MQTTDevice] { home.devices.values.compactMap(\.reported).sorted { $0.key < $1.key } }

    /// What is known of a part of a device.
    func values(_ key: String, _ endpoint: Int = 1) -> TraitValues {
        guard let record = home.devices[key], let device = home.device(record)?.device else { return TraitValues() }
        return device.endpoints.first { $0.number == endpoint }?.values ?? TraitValues()
    }

    /// Sends a command, and returns the messages as `topic payload`.
    mutating func perform(
        _ key: String, _ trait: String, _ command: String, _ parameters: JSONValue = [:], endpoint: Int = 1
    ) throws -> [String] {
        let (publications, effects) = try home.perform(
            key: key, endpoint: endpoint, trait: trait, command: command, parameters: parameters)
        take(effects)
        return publications.map { "\($0.topic) \(String(decoding: $0.payload, as: UTF8.self))" }
    }
}
