public import TURN
public import Transport

/// A TURN server, how it is reached, and who may use it.
public struct TURNServer: Hashable, Sendable {
    /// How a server is reached.
    public enum Transport: Hashable, Sendable {
        /// Over UDP.
        case udp
        /// Over TCP.
        case tcp
        /// Over TLS, with a certificate for `name`. `authorities` is a PEM file with the authorities to trust; nil for those
        /// of the system.
        case tls(name: String, authorities: String?)
    }

    /// The server's address.
    public var address: TransportAddress
    /// How it is reached.
    public var transport: Transport
    /// The user name of the long-term credentials.
    public var username: String
    /// Their password.
    public var password: String

    /// Describes a server.
    public init(address: TransportAddress, transport: Transport = .udp, username: String, password: String) {
        self.address = address
        self.transport = transport
        self.username = username
        self.password = password
    }
}

/// What is known of the TURN server in use.
public struct TURNState: Hashable, Sendable {
    /// The server's address.
    public var server: TransportAddress
    /// How it is reached.
    public var transport: TURNServer.Transport
    /// Where it relays, as announced to viewers: at most one address of each version of the Internet Protocol; empty without an
    /// allocation, and while the server does not answer.
    public var relayedAddresses: [TransportAddress]
    /// Why it relays nothing; nil before the first outcome, and while the server is silent but not given up.
    public var failure: TURNFailure?
    /// Whether the server has an allocation for the gateway, but does not answer. Paths that use it may still work.
    public private(set) var isSilent = false

    /// Describes a server of which nothing else is known.
    public init(
        server: TransportAddress, transport: TURNServer.Transport = .udp, relayedAddresses: [TransportAddress] = [],
        failure: TURNFailure? = nil
    ) {
        self.server = server
        self.transport = transport
        self.relayedAddresses = relayedAddresses
        self.failure = failure
    }

    /// Takes what the client knows of an allocation that it has.
    public mutating func record(allocated addresses: [TransportAddress], isSilent: Bool) {
        relayedAddresses = isSilent ? [] : addresses
        failure = nil
        self.isSilent = isSilent
    }

    /// The client has ended.
    public mutating func record(_ reason: TURNFailure) {
        (relayedAddresses, failure, isSilent) = ([], reason, false)
    }
}
