import DatagramPort
import Transport

/// How publishers are served.
public struct RTMPServerConfiguration: Sendable {
    /// Where to listen: at most one address of each family.
    public var addresses: [TransportAddress]
    /// How many connections there may be.
    public var maximumConnections = 128
    /// How many connections of one host may be without a correct token; beyond that, the oldest is closed.
    public var maximumConnectionsPerHost = 32
    /// How long the handshake may take.
    public var handshakeTimeout: Duration = .seconds(10)
    /// How long a client may take until it asks to publish, counted from the start of its connection or from the end of what it
    /// published.
    public var publishTimeout: Duration = .seconds(20)
    /// How long a publisher may send no picture and no sound.
    public var silenceTimeout: Duration = .seconds(20)
    /// How long a client's connection may accept nothing.
    public var stallTimeout: Duration = .seconds(10)
    /// How long a client that was refused may take to read why, and to close.
    public var closingTimeout: Duration = .seconds(2)

    /// Listens on `host`, which is an address or `localhost`; `::` means all of IPv6 and IPv4. With port 0 the kernel
    /// chooses one. Nil for any other host name.
    public init?(host: String, port: UInt16) {
        guard let addresses = TransportAddress.listening(host: host, port: port) else { return nil }
        self.addresses = addresses
    }
}
