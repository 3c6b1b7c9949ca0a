/// How to reach an MQTT broker.
public struct BrokerSettings: Sendable, Hashable {
    /// The last will: what the broker publishes if the gateway disappears without disconnecting.
    public struct Will: Sendable, Hashable {
        /// The topic.
        public var topic: String
        /// The payload. It is retained.
        public var payload: String

        /// Describes a will.
        public init(topic: String, payload: String) {
            self.topic = topic
            self.payload = payload
        }
    }

    /// TLS to the broker.
    public struct TLS: Sendable, Hashable {
        /// A PEM file with the authorities to trust; nil for those of the system.
        public var authorities: String?
        /// A PEM file with the gateway's own certificate; nil if the broker does not require one.
        public var certificate: String?
        /// The PEM file with the key of ``certificate``.
        public var privateKey: String?

        /// Trusts the authorities of the system.
        public init(authorities: String? = nil, certificate: String? = nil, privateKey: String? = nil) {
            self.authorities = authorities
            self.certificate = certificate
            self.privateKey = privateKey
        }
    }

    /// A name or an address.
    public var host: String
    /// The TCP port.
    public var port: Int
    /// TLS, or nil for a connection without it.
    public var tls: TLS?
    /// The name of the user; nil for a broker that does not require one.
    public var username: String?
    /// The password of the user.
    public var password: String?
    /// Names this client on the broker, which disconnects another one with the same name.
    public var clientID: String
    /// After how many seconds of silence the two sides check on each other.
    public var keepAliveSeconds: Int
    /// The last will; nil for none.
    public var will: Will?

    /// Describes a broker.
    public init(
        host: String, port: Int = 1883, tls: TLS? = nil, username: String? = nil, password: String? = nil,
        clientID: String = "gatehouse", keepAliveSeconds: Int = 30, will: Will? = nil
    ) {
        self.host = host
        self.port = port
        self.tls = tls
        self.username = username
        self.password = password
        self.clientID = clientID
        self.keepAliveSeconds = keepAliveSeconds
        self.will = will
    }
}
