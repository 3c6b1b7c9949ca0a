import DTLS
import ICE
import NetworkSimulator
import PeerConnection
import PeerFakes
import RTP
import SRTP
import STUN
import Testing
import Transport

/// A peer whose host moves, delays answers, and sends media.
final class Peer: SimulatedPeer {
    let ssrc: UInt32
    /// What went out: when, of what kind, and the first bytes.
    private(set) var transmitted: [(at: Instant, kind: DatagramKind, bytes: [UInt8], destination: TransportAddress)] =
        []
    /// Sequence numbers of the RTP packets that arrived.
    private(set) var received: [UInt16] = []
    private(set) var receivedReports = 0
    private(set) var sawSuccessResponse = false
    /// Set when a DTLS datagram went out before any check had been answered.
    private(set) var sentHandshakeBeforePath = false
    /// Whether the peer answers connectivity checks.
    var answersChecks = true
    /// How long the answers to checks are held back.
    var answerDelay = Duration.zero
    /// How often a packet of media goes out; nil for no media.
    var mediaInterval: Duration?
    var recordsDatagrams = false

    private var index: UInt64 = 65_500
    private var nextMedia: Instant?
    private var delayed: [(due: Instant, bytes: [UInt8], transmit: Transmit, source: TransportAddress?)] = []
    private let fallback: TransportAddress

    init(_ configuration: PeerConnectionConfiguration, seed: UInt64, now: Instant) throws {
        fallback = configuration.addresses.hosts[0]
        ssrc = UInt32(truncatingIfNeeded: seed | 1)
        try super.init(configuration, random: .seeded(seed), now: now)
    }

    /// The host is from now on known by another address, as a phone that left the Wi-Fi.
    func move(to host: String) throws {
        addresses = [try #require(TransportAddress(host, port: 8189))]
    }

    func time(of event: PeerConnection.Event) -> Instant? { events.first { $0.event == event }?.at }
    var remoteAddress: TransportAddress? { connection.remoteAddress }
    func knows(_ address: TransportAddress) -> Bool { connection.knowsRemoteAddress(address) }
    var refusals: PeerConnection.Refusals { connection.refusals }

    override func receive(_ datagram: SimulatedDatagram) {
        if !hasVanished, datagram.bytes.starts(with: [1, 1]) { sawSuccessResponse = true }
        super.receive(datagram)
    }

    override func receiveRTP(_ packet: UnsafeRawBufferPointer, at now: Instant) {
        if let packet = try? RTPPacketView(parsing: packet) { received.append(packet.sequenceNumber) }
    }

    override func receiveRTCP(_ packet: UnsafeRawBufferPointer, at now: Instant) { receivedReports += 1 }

    override var ownDeadline: Instant? {
        let media = mediaInterval != nil && isConnected ? nextMedia ?? .zero : nil
        return [media, delayed.map(\.due).min()].compactMap { $0 }.min()
    }

    override func pollTransmit(
        into buffer: UnsafeMutableRawBufferPointer, at now: Instant
    ) -> (transmit: Transmit, source: TransportAddress)? {
        guard !hasVanished else { return nil }
        if let position = delayed.firstIndex(where: { $0.due <= now }) {
            let late = delayed.remove(at: position)
            buffer.copyBytes(from: late.bytes)
            return (late.transmit, source(late.source, for: late.transmit.destination))
        }
        while let transmit = connection.pollTransmit(into: buffer, at: now) {
            let bytes = Array(buffer[..<transmit.byteCount])
            let wanted = connection.transmitSource
            if bytes[0] == 1, bytes[1] == 1 {
                guard answersChecks else { continue }
                if answerDelay > .zero {
                    delayed.append((now + answerDelay, bytes, transmit, wanted))
                    continue
                }
            }
            record(bytes, transmit, at: now)
            return (transmit, source(wanted, for: transmit.destination))
        }
        takeTurn(at: now)
        guard let interval = mediaInterval, isConnected, (nextMedia ?? .zero) <= now,
            let transmit = writeMedia(into: buffer)
        else { return nil }
        nextMedia = now + interval
        record(Array(buffer[..<transmit.byteCount]), transmit, at: now)
        return (transmit, source(connection.localAddress, for: transmit.destination))
    }

    /// A source that the host no longer has is what a kernel would refuse.
    private func source(_ wanted: TransportAddress?, for destination: TransportAddress) -> TransportAddress {
        if let wanted, addresses.contains(wanted) { return wanted }
        return addresses.first { $0.family == destination.family } ?? fallback
    }

    private func record(_ bytes: [UInt8], _ transmit: Transmit, at now: Instant) {
        let kind = bytes.withUnsafeBytes { DatagramKind($0) }
        if kind == .dtls, !sawSuccessResponse { sentHandshakeBeforePath = true }
        transmitted.append((now, kind, recordsDatagrams ? bytes : [], transmit.destination))
    }

    private func writeMedia(into buffer: UnsafeMutableRawBufferPointer) -> Transmit? {
        guard let destination = connection.remoteAddress else { return nil }
        _ = RTPHeaderTemplate(payloadType: 96, ssrc: ssrc).write(
            marker: false, sequenceNumber: UInt16(truncatingIfNeeded: index),
            timestamp: UInt32(truncatingIfNeeded: index * 960),
            into: buffer)
        let payload = [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: 200)
        let count = payload.withUnsafeBytes {
            connection.protectRTP(headerLength: 12, payload: $0, output: buffer, index: index)
        }
        index += 1
        return count > 0 ? Transmit(destination: destination, byteCount: count) : nil
    }
}

/// A viewer, a gateway, and the network between them.
struct Session {
    static let viewerHost = "198.51.100.7"
    static let gatewayHost = "203.0.113.5"
    static let start = Instant(nanoseconds: 1_000_000_000)

    let simulation: Simulation
    /// The controlling side, which makes the offer.
    let viewer: Peer
    /// The controlled side.
    let gateway: Peer

    /// What a test may change of the session.
    struct Shape {
        var viewerHost = Session.viewerHost
        /// Whether the offer holds the viewer's candidates.
        var gatewayKnowsCandidates = false
        var viewerIsDTLSClient = true
        var viewerProfiles: [SRTPProfile] = [.aeadAES128GCM, .aes128CMHMACSHA1_80]
        var nomination = ICENomination.aggressive
        /// The viewer's fingerprint as the gateway knows it; nil for the right one.
        var toldFingerprint: DTLSFingerprint?
    }

    init(
        conditions: LinkConditions = LinkConditions(latency: .milliseconds(10)), seed: UInt64 = 1,
        _ change: (inout Shape) -> Void = { _ in }
    ) throws {
        var shape = Shape()
        change(&shape)
        var random = RandomSource.seeded(seed)
        let viewerCredentials = ICECredentials(using: &random)
        let gatewayCredentials = ICECredentials(using: &random)
        let viewerAddress = try #require(TransportAddress(shape.viewerHost, port: 8189))
        let gatewayAddress = try #require(TransportAddress(Self.gatewayHost, port: 8189))
        var pair = try PeerPair(
            from: viewerAddress, viewerCredentials, to: gatewayAddress, gatewayCredentials,
            offererIsDTLSClient: shape.viewerIsDTLSClient)
        pair.offerer.nomination = shape.nomination
        pair.offerer.profiles = shape.viewerProfiles
        if shape.gatewayKnowsCandidates { pair.answerer.remoteCandidates = [.host(viewerAddress)] }
        if let fingerprint = shape.toldFingerprint { pair.answerer.remoteFingerprints = [fingerprint] }
        viewer = try Peer(pair.offerer, seed: seed &* 2 &+ 1, now: Self.start)
        gateway = try Peer(pair.answerer, seed: seed &* 2 &+ 2, now: Self.start)
        simulation = Simulation(
            network: SimulatedNetwork(seed: seed, conditions: conditions), endpoints: [viewer, gateway],
            start: Self.start)
    }

    var areConnected: Bool { viewer.isConnected && gateway.isConnected }

    /// Runs until media can flow both ways; whether it can.
    func connect(within duration: Duration = .seconds(30)) -> Bool {
        simulation.run(for: duration) { areConnected }
    }

    /// Lets media flow both ways, a packet each `interval`.
    func startMedia(every interval: Duration = .milliseconds(20)) {
        viewer.mediaInterval = interval
        gateway.mediaInterval = interval
    }

    /// How much media arrives at each side in `duration`.
    func countMedia(in duration: Duration) -> (viewer: Int, gateway: Int) {
        let before = (viewer.received.count, gateway.received.count)
        simulation.run(for: duration)
        return (viewer.received.count - before.0, gateway.received.count - before.1)
    }
}
