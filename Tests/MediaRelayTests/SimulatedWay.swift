import NetworkSimulator
import Transport

@testable import MediaRelay

/// A way to the relay beside its shards' sockets: TCP connections, or a TURN server. It stands for the thread that
/// carries datagrams between the shards and this way, and for the server behind that thread.
final class SimulatedWay: SimulatedEndpoint {
    let route: TransportAddress.Route
    /// Where peers reach the relay by this way.
    private(set) var address: TransportAddress
    /// The peers whose connections the relay has closed.
    private(set) var closed: Set<TransportAddress> = []
    private let host: RelayHost
    private let queue: RelayedQueue
    /// The hosts that may send to a relayed address: the relay has sent to them (RFC 8656, section 9).
    private var permitted: Set<TransportAddress> = []
    private var batch = RelayedQueue.Batch()
    private var arrived = HandOver()
    private var outbox: [(bytes: [UInt8], peer: TransportAddress)] = []

    /// - Parameters:
    ///   - route: `.tcp` for connections that peers open, `.relayed` for a TURN server.
    ///   - address: where it listens for connections, or where the server relays.
    init(_ route: TransportAddress.Route, at address: TransportAddress, of host: RelayHost) {
        self.route = route
        self.address = route == .tcp ? address.by(.tcp) : address
        self.host = host
        queue = route == .tcp ? host.relay.links.connected : host.relay.links.relayed
        // The simulation asks for what waits after each of its steps.
        queue.setReader {}
    }

    /// The server has lost its allocation, and relays at another address from now on.
    func move(to address: TransportAddress) {
        self.address = address
        permitted = []
    }

    // MARK: - The endpoint

    var addresses: [TransportAddress] { [address] }
    var nextDeadline: Instant? { nil }

    func handleDeadline(at now: Instant) {}

    func receive(_ datagram: SimulatedDatagram) {
        let (peer, links) = (datagram.source.by(.direct), host.relay.links)
        guard route == .tcp ? !closed.contains(peer) : permitted.contains(peer.withPort(0)) else { return }
        let path = DatagramPath(source: peer.by(route), local: address, door: ShardLinks.relayedDoor, holder: nil)
        datagram.bytes.withUnsafeBytes { bytes in
            if links.accepts(bytes) { arrived.append(bytes, path, next: nil) }
        }
        host.now = datagram.arrival
        if route == .tcp { links.handOver(connected: &arrived) } else { links.handOver(relayed: &arrived) }
        host.settle()
    }

    func pollTransmit(
        into buffer: UnsafeMutableRawBufferPointer, at now: Instant
    ) -> (transmit: Transmit, source: TransportAddress)? {
        if outbox.isEmpty { takeQueue() }
        guard !outbox.isEmpty else { return nil }
        let (bytes, peer) = outbox.removeFirst()
        buffer.copyBytes(from: bytes)
        let destination = route == .tcp ? peer.by(.tcp) : peer
        return (Transmit(destination: destination, byteCount: bytes.count), address)
    }

    private func takeQueue() {
        queue.take(into: &batch)
        batch.drain { bytes, peer in
            if bytes.isEmpty {
                closed.insert(peer)
            } else {
                permitted.insert(peer.withPort(0))
                outbox.append((Array(bytes), peer))
            }
        }
    }
}
