extension GatewayConfiguration {
    /// The MQTT broker whose devices join the home, and on which the cameras are published.
    public struct MQTT: Sendable, Equatable {
        /// TLS to the broker.
        public struct TLS: Sendable, Equatable {
            /// A PEM file with the authorities to trust; nil for those of the system.
            public var authorities: String?
            /// A PEM file with the gateway's own certificate, and one with its key.
            public var files: CertificateFiles?

            /// Trusts the authorities of the system.
            public init() {}
        }

        /// Whose presence the trackers of the broker say.
        public enum Presence: Sendable, Equatable {
            /// Nobody's: trackers are ignored.
            case nobody
            /// Each tracker is a person of its name.
            case everyTracker
            /// The trackers of each person, by name, `unique_id` or state topic. Others are ignored.
            case persons([String: Set<String>])
        }

        /// A name or an address.
        public var host: String
        /// The TCP port.
        public var port: Int
        /// TLS, or nil for a connection without it.
        public var tls: TLS?
        /// The name of the user; nil for a broker that wants none.
        public var username: String?
        /// The password of the user.
        public var password: String?
        /// Names the gateway on the broker.
        public var clientID = "gatehouse"
        /// The first level of the topics of Home Assistant's discovery; nil to add no devices from there. The cameras
        /// are described below `homeassistant` then.
        public var discoveryPrefix: String? = "homeassistant"
        /// The first level of Zigbee2MQTT's topics; nil to read none of them.
        public var zigbee2mqttPrefix: String? = "zigbee2mqtt"
        /// Whether the cameras are published.
        public var publishes = true
        /// The first level of the topics that the gateway publishes.
        public var topicPrefix = "gatehouse"
        /// Whether messages on the broker may switch recording.
        public var acceptsCommands = false
        /// Whether a picture of each press and detection is published.
        public var publishesPictures = false
        /// Whose presence the trackers of the broker say.
        public var presence = Presence.everyTracker

        /// Names a broker.
        public init(host: String, port: Int = 1883) {
            self.host = host
            self.port = port
        }
    }
}
