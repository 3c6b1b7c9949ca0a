import DatagramPort
public import RTSP
import Signalling
import Transport

/// How cameras are served.
public struct RTSPServerConfiguration: Sendable {
    /// Where to listen: at most one address of each family.
    public var addresses: [TransportAddress]
    /// The clients that may use the server, and how long its sessions live.
    public var session: RTSPServerSession.Configuration
    /// How many connections there may be.
    public var maximumConnections = 128
    /// How many connections of one host may be without a correct password; beyond that, the oldest is closed. Those
    /// with one are not counted, because everything behind a container's bridge, behind a proxy or on this machine has
    /// one address.
    public var maximumConnectionsPerHost = 32
    /// How many connections of one principal may be signed in and neither play nor publish while another client waits for a
    /// place; beyond that, the oldest is closed.
    public var maximumIdleConnections = 16
    /// How many readers there may be if nothing else is configured.
    public static let maximumReaders = 64
    /// Whether a principal may have one more reader, given the principals of the current ones.
    public var admitsReader: @Sendable (_ principal: String, _ readers: [String]) -> Bool = { _, readers in
        readers.count < maximumReaders
    }
    /// Takes what clients publish; nil where they may not.
    public var publishing: PublishingGate?
    /// The time between two sender reports to a reader, after the first few, which come more quickly, and between two
    /// receiver reports to a publisher, at each of which its silence is noticed too (RFC 3550, section 6.2).
    public var reportInterval: Duration = .seconds(5)
    /// How far a reader may fall behind before whole frames are skipped for it.
    public var maximumLag: Duration = .seconds(3)
    /// How many bytes may wait for a reader. They are the relay's own, held once for all readers.
    public var maximumQueuedBytes = 16 << 20
    /// How long a reader's connection may accept nothing.
    public var stallTimeout: Duration = .seconds(10)
    /// How many packets of a backlog are sent in one burst of datagrams.
    public var burstPackets = 8
    /// The time between two bursts.
    public var burstInterval: Duration = .milliseconds(2)
    /// How long a request for a description waits for a camera whose tracks are not known yet.
    public var descriptionTimeout: Duration = .seconds(10)
    /// How long the answer to PLAY waits for the first packet of each track.
    public var startTimeout: Duration = .milliseconds(400)

    /// Listens on `host`, which is an address or `localhost`; `::` means all of IPv6 and IPv4. With port 0 the kernel
    /// chooses one. Nil for any other host name.
    public init?(host: String, port: UInt16, authentication: RTSPAuthentication) {
        guard let addresses = TransportAddress.listening(host: host, port: port) else { return nil }
        self.addresses = addresses
        session = RTSPServerSession.Configuration(authentication: authentication)
        session.footagePrefix = FootagePresentation.prefix
    }
}
