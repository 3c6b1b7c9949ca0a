import Foundation
import MQTTDevices

/// The response to `GET /v1/mqtt`.
public struct MQTTAnswer: Codable, Sendable, Equatable {
    /// A device that the broker describes.
    public struct Device: Codable, Sendable, Equatable {
        /// Names the device on the broker for good.
        public var key: String
        /// The name that people read.
        public var name: String
        /// The wire names of the types of its parts, the most important one first.
        public var types: [String]
    }

    /// Something that could not be used.
    public struct Problem: Codable, Sendable, Equatable {
        /// Where it came from.
        public var topic: String
        /// What was wrong with it.
        public var reason: String
    }

    /// The broker's address.
    public var host: String
    /// The broker's port.
    public var port: Int
    /// `connecting`, `connected`, `lost` or `unusable`.
    public var state: String
    /// Since when the state has been this.
    public var since: Date?
    /// Why the broker is not connected.
    public var reason: String?
    /// What went over the connection.
    public var received: UInt64 = 0
    public var sent: UInt64 = 0
    /// The messages that a newer one of the same topic replaced, because the topic sent too many.
    public var superseded: UInt64 = 0
    /// The messages for which there was no room.
    public var dropped: UInt64 = 0
    /// The events of devices that gave way because the home did not read them.
    public var droppedEvents = 0
    /// The messages that could not be sent.
    public var unsent: UInt64 = 0
    /// The subscriptions that the broker does not permit.
    public var refusedSubscriptions: UInt64 = 0
    /// The devices.
    public var devices: [Device]
    /// The trackers of persons.
    public var trackers = 0
    /// The trackers of the config that have not spoken, by person. Until they do, the person is not considered away.
    public var silentTrackers: [String: [String]] = [:]
    /// The entities for which the home has no trait, by their kind.
    public var ignored: [String: Int] = [:]
    /// The descriptions that give no device, and why.
    public var refused: [Problem] = []
    /// The newest messages that could not be read.
    public var unreadable: [Problem] = []

    init(
        _ configuration: GatewayConfiguration.MQTT, _ status: MQTTStatus?, _ problem: BrokerFailure?,
        _ devices: [MQTTDevice], silentTrackers: [String: [String]] = [:], droppedEvents: Int = 0
    ) {
        host = configuration.host
        port = configuration.port
        self.devices = devices.sorted { ($0.name, $0.key) < ($1.name, $1.key) }.map { device in
            Device(key: device.key, name: device.name, types: device.endpoints.flatMap(\.types))
        }
        self.silentTrackers = silentTrackers
        self.droppedEvents = droppedEvents
        state = "connecting"
        if let problem {
            state = "unusable"
            reason = problem.description
        }
        guard let status else { return }
        switch status.state {
        case .connecting, .stopped: break
        case .connected(let date): (state, since) = ("connected", date)
        case .lost(let date, let failure): (state, since, reason) = ("lost", date, failure.description)
        }
        received = status.broker.received
        sent = status.broker.sent
        superseded = status.broker.superseded
        dropped = status.broker.dropped
        unsent = status.broker.unsent
        refusedSubscriptions = status.broker.refusedSubscriptions
        trackers = status.trackers
        ignored = status.home.ignored
        refused = status.home.refused.map { Problem(topic: $0.topic, reason: $0.reason) }
        unreadable = status.home.unreadableMessages.map { Problem(topic: $0.topic, reason: $0.reason) }
    }
}

extension MQTTAnswer {
    /// The numbers for Prometheus.
    var families: [MetricFamily] {
        func counter(_ name: String, _ help: String, _ value: UInt64) -> MetricFamily {
            .init(name: "gatehouse_mqtt_\(name)", help: help, kind: .counter, samples: [.init(Double(value))])
        }
        return [
            .init(
                name: "gatehouse_mqtt_connected", help: "1 while the MQTT broker is connected.", kind: .gauge,
                samples: [.init(state == "connected" ? 1 : 0)]),
            .init(
                name: "gatehouse_mqtt_devices", help: "Devices that the MQTT broker describes.", kind: .gauge,
                samples: [.init(Double(devices.count))]),
            counter("messages_received_total", "Messages that the MQTT broker delivered.", received),
            counter("messages_sent_total", "Messages sent to the MQTT broker.", sent),
            counter(
                "messages_superseded_total", "Messages replaced by a newer one, because the topic sent too many.",
                superseded),
            counter("messages_dropped_total", "Messages for which there was no room.", dropped),
            counter(
                "events_dropped_total",
                "Events of MQTT devices that were dropped because the home did not read them in time.",
                UInt64(droppedEvents)),
            counter("messages_unsent_total", "Messages that could not be sent.", unsent),
        ]
    }
}
