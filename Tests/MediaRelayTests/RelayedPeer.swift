import ICE
import NetworkSimulator
import PeerConnection
import PeerFakes
import Transport

@testable import MediaRelay

/// The other end of one of the relay's sessions, on a simulated host: a viewer's or a publisher's.
class RelayedPeer: SimulatedPeer {
    let name: String
    /// What offer and answer have agreed on, from the peer's side.
    let configuration: PeerConnectionConfiguration
    /// What the relay has reported about the session.
    let notices = Notices()
    let status = SessionStatus()
    /// The relay's addresses that it reaches over TCP.
    private var listeners: Set<TransportAddress> = []

    init(_ configuration: PeerConnectionConfiguration, name: String, seed: UInt64, now: Instant) throws {
        self.name = name
        self.configuration = configuration
        try super.init(configuration, random: .seeded(seed), now: now)
    }

    var password: String { configuration.localCredentials.password }

    /// Its host has another address from now on, as a phone that has left the Wi-Fi.
    func move(to address: TransportAddress) { addresses[0] = address }

    // MARK: - TCP

    /// Its end of its TCP connections.
    var connectingAddress: TransportAddress { addresses[0].withPort(50_000).by(.tcp) }

    /// Connects to these addresses of the relay by TCP (RFC 6544).
    func connect(to listeners: [TransportAddress]) {
        guard !listeners.isEmpty else { return }
        self.listeners.formUnion(listeners)
        addresses.append(connectingAddress)
    }

    override func receive(_ datagram: SimulatedDatagram) {
        var datagram = datagram
        if datagram.destination.route == .tcp {
            datagram.source = datagram.source.by(.direct)
            datagram.destination = addresses[0]
        }
        super.receive(datagram)
    }

    override func pollTransmit(
        into buffer: UnsafeMutableRawBufferPointer, at now: Instant
    ) -> (transmit: Transmit, source: TransportAddress)? {
        guard let (transmit, source) = super.pollTransmit(into: buffer, at: now) else { return nil }
        guard listeners.contains(transmit.destination) else { return (transmit, source) }
        let framed = Transmit(destination: transmit.destination.by(.tcp), byteCount: transmit.byteCount)
        return (framed, connectingAddress)
    }
}
