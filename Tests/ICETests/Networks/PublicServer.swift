import NetworkSimulator
import STUN
import TURN
import TURNFakes
import Transport

/// A STUN and TURN server on the Internet, over UDP, TCP and (by its port) TLS.
final class PublicServer: SimulatedEndpoint {
    static let udp = TransportAddress(ipv4: 0xC000_0232, port: 3478)
    /// The address of another server, on another host.
    static let otherUDP = TransportAddress(ipv4: 0xC000_0233, port: 3478)
    /// Where that one relays.
    static let otherRelayed = TransportAddress(ipv4: 0xCB00_7142, port: 52_000)

    /// Where it listens for clients.
    private let listening: [TransportAddress]
    /// Where it relays.
    private(set) var relayed: TransportAddress
    private var turn = FakeTURNServer()
    private var reader = TURNStreamReader()
    /// The one client of TURN, and the address of the server that it uses.
    private var client: (address: TransportAddress, server: TransportAddress)?
    private var outbox: [(bytes: [UInt8], source: TransportAddress, destination: TransportAddress)] = []

    init(at udp: TransportAddress = PublicServer.udp, relayingAt relayed: TransportAddress = FakeTURNServer.relayed) {
        listening = [udp, udp.by(.tcp), udp.withPort(443).by(.tcp)]
        self.relayed = relayed
        turn.addresses = [relayed]
    }

    var addresses: [TransportAddress] { listening + [relayed] }

    /// Forgets its allocation, as a server that restarts does, and relays at another address from now on. With another host it
    /// stands for another server.
    func restart(relayingAt relayed: TransportAddress) {
        self.relayed = relayed
        turn = FakeTURNServer()
        turn.addresses = [relayed]
        reader = TURNStreamReader()
        client = nil
    }

    /// Whether it leaves requests unanswered. It still relays.
    var isSilent: Bool {
        get { turn.isSilent }
        set { turn.isSilent = newValue }
    }

    func receive(_ datagram: SimulatedDatagram) {
        let (source, destination) = (datagram.source, datagram.destination)
        if destination == relayed {
            guard let client, turn.permissions.contains(source.withPort(0)) else { return }
            outbox.append((turn.indication(from: source, datagram.bytes), client.server, client.address))
        } else if destination.route == .tcp {
            datagram.bytes.withUnsafeBytes { reader.append($0) }
            var messages: [[UInt8]] = []
            while (try? reader.next { messages.append(Array($0)) }) == true {}
            for message in messages { handle(message, from: source, at: destination) }
        } else {
            handle(datagram.bytes, from: source, at: destination)
        }
    }

    private func handle(_ bytes: [UInt8], from source: TransportAddress, at server: TransportAddress) {
        if let answer = answer(toBinding: bytes, from: source) {
            outbox.append((answer, server, source))
            return
        }
        client = (source, server)
        if let answer = turn.handle(bytes) { outbox.append((answer, server, source)) }
        for (peer, bytes) in turn.takeSent() { outbox.append((bytes, relayed, peer)) }
    }

    private func answer(toBinding bytes: [UInt8], from source: TransportAddress) -> [UInt8]? {
        bytes.withUnsafeBytes { raw in
            guard let message = try? STUNMessage(parsing: raw), message.method == STUNMessage.bindingMethod else {
                return nil
            }
            return FakeTURNServer.message(.successResponse, message.method, message.transactionID) { builder in
                builder.addMappedAddress(source)
                builder.addFingerprint()
            }
        }
    }

    var nextDeadline: Instant? { nil }

    func handleDeadline(at now: Instant) {}

    func pollTransmit(
        into buffer: UnsafeMutableRawBufferPointer, at now: Instant
    ) -> (transmit: Transmit, source: TransportAddress)? {
        guard !outbox.isEmpty else { return nil }
        let (bytes, source, destination) = outbox.removeFirst()
        buffer.copyBytes(from: bytes)
        return (Transmit(destination: destination, byteCount: bytes.count), source)
    }
}
