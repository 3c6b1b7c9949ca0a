import DatagramPort
import MediaRelay
import Transport

/// What the media port knows of the network.
public struct NetworkFacts: Sendable {
    /// The number of the media port.
    public var port: UInt16
    /// The addresses of the machine that other machines may reach.
    public var hostAddresses: [TransportAddress]
    /// What is known from each STUN server of the config.
    public var seen: [ReflexiveAddress]
    /// What is known of the TURN server in use; nil without one.
    public var turn: TURNState?
    /// Datagrams that the kernel dropped because the gateway did not read them in time.
    public var receiveDrops: Int

    /// Describes a network.
    public init(
        port: UInt16, hostAddresses: [TransportAddress], seen: [ReflexiveAddress] = [], turn: TURNState? = nil,
        receiveDrops: Int = 0
    ) {
        self.port = port
        self.hostAddresses = hostAddresses
        self.seen = seen
        self.turn = turn
        self.receiveDrops = receiveDrops
    }

    /// What a relay knows now.
    public init(of relay: MediaRelay) {
        self.init(
            port: relay.port.localPort, hostAddresses: DatagramPort.hostAddresses().map(\.address),
            seen: relay.reflexiveAddresses, turn: relay.turnState, receiveDrops: relay.port.counters.receiveBufferDrops)
    }
}
