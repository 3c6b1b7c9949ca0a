import DatagramPort
import LocalNetwork
import MediaRelay
import PortMapping
import Transport

/// What the media port knows of the network.
public struct NetworkFacts: Sendable {
    /// The number of the media port.
    public var port: UInt16
    /// The TCP port at which viewers connect; nil without one.
    public var tcpPort: UInt16?
    /// Why there is none, although the config wants one.
    public var tcpFailure: String?
    /// The addresses of the machine that other machines may reach.
    public var hostAddresses: [TransportAddress]
    /// What is known from each STUN server of the config.
    public var seen: [ReflexiveAddress]
    /// What is known of the TURN server in use; nil without one.
    public var turn: TURNState?
    /// Datagrams that the kernel dropped because the gateway did not read them in time.
    public var receiveDrops: Int

    /// What is known of the gateway's name in the local network; nil where multicast DNS is off.
    public var localName: MulticastDNSState?

    /// What is known of the media port's mapping at the router; nil where the config wants none.
    public var portMapping: PortMapping?

    /// What is known of the TCP port's mapping there; nil without a TCP port, and where the config wants no mapping.
    public var tcpPortMapping: PortMapping?

    /// What is known of the media port's pinhole in the IPv6 router's firewall; nil where the config wants no mapping.
    public var pinhole: PortMapping?

    /// Describes a network.
    public init(
        port: UInt16, hostAddresses: [TransportAddress], seen: [ReflexiveAddress] = [], turn: TURNState? = nil,
        receiveDrops: Int = 0, tcpPort: UInt16? = nil, tcpFailure: String? = nil
    ) {
        self.port = port
        self.hostAddresses = hostAddresses
        self.seen = seen
        self.turn = turn
        self.receiveDrops = receiveDrops
        self.tcpPort = tcpPort
        self.tcpFailure = tcpFailure
    }

    /// What a relay knows now.
    /// - Parameter tcpFailure: why it accepts no TCP connections, although the config wants that.
    public init(of relay: MediaRelay, tcpFailure: String? = nil) {
        self.init(
            port: relay.port.localPort, hostAddresses: DatagramPort.hostAddresses().map(\.address),
            seen: relay.reflexiveAddresses, turn: relay.turnState, receiveDrops: relay.port.counters.receiveBufferDrops,
            tcpPort: relay.tcpPort, tcpFailure: tcpFailure)
    }
}
