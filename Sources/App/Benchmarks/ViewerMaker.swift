import DTLS
import DatagramPort
import ICE
import MediaRelay
import PeerConnection
import SDP
import Transport

/// A relay that viewers can connect to.
protocol ConnectableRelay {
    /// Where its socket is.
    var address: TransportAddress { get }
    /// Credentials for the relay's side of a viewer, made before it is added.
    func credentials(using random: inout RandomSource) -> ICECredentials
    /// Adds a viewer.
    func addViewer(_ configuration: ViewerConfiguration, at now: Instant) -> SessionStatus
    /// Accepts a datagram from a viewer.
    func deliver(_ datagram: UnsafeMutableRawBufferPointer, from source: TransportAddress, at now: Instant)
}

/// Connects viewers to a relay. The relay's side is the real one. The viewer's side is a client connection that lives
/// as long as the handshake.
struct ViewerMaker {
    /// A fixed header and the extension with the transport-wide sequence number, which browsers agree to.
    static let headerSize = 20
    private static let transportSequenceExtension: UInt8 = 3

    private let relay: any ConnectableRelay
    private let drain: DrainingPort
    private let gatewayIdentity: DTLSIdentity
    private let viewerIdentity: DTLSIdentity

    init(relay: any ConnectableRelay, drain: DrainingPort) throws {
        self.relay = relay
        self.drain = drain
        gatewayIdentity = try DTLSIdentity.generate()
        viewerIdentity = try DTLSIdentity.generate()
    }

    /// Connects one viewer to a relay that is then released.
    static func warmUp(drain: DrainingPort) throws {
        let relay = try SteppedBenchmarkRelay(drain: drain)
        try ViewerMaker(relay: relay, drain: drain).connect(0, to: SteppedBenchmarkRelay.track(of: 0))
    }

    /// Connects viewer `index` to `track`.
    func connect(_ index: Int, to track: TrackID) throws {
        var random = RandomSource.system
        let address = drain.address(of: index)
        let gatewayAddress = relay.address
        let gatewayCredentials = relay.credentials(using: &random)
        let viewerCredentials = ICECredentials(using: &random)
        let started = MonotonicClock.now
        let egress = EgressConfiguration(
            track: track, isVideo: true, ssrc: UInt32(truncatingIfNeeded: index &* 2 &+ 1), payloadType: 96,
            retransmission: (ssrc: UInt32(truncatingIfNeeded: index &* 2 &+ 2), payloadType: 97),
            transportSequenceExtension: Self.transportSequenceExtension, canonicalName: "benchmark")
        let status = relay.addViewer(
            ViewerConfiguration(
                sessionID: "viewer \(index)",
                peer: PeerConnectionConfiguration(
                    iceRole: .controlled, localCredentials: gatewayCredentials, remoteCredentials: viewerCredentials,
                    remoteIsLite: false, addresses: ICEAddresses(hosts: [gatewayAddress]), remoteCandidates: [],
                    dtlsRole: .server, identity: gatewayIdentity, remoteFingerprints: [viewerIdentity.fingerprint]),
                egress: [egress], talkbackPayloadTypes: [], offerReceived: started, answerReady: started),
            at: started)
        var viewer = try PeerConnection(
            configuration: PeerConnectionConfiguration(
                iceRole: .controlling, localCredentials: viewerCredentials, remoteCredentials: gatewayCredentials,
                remoteIsLite: false, addresses: ICEAddresses(hosts: [address]),
                remoteCandidates: [RemoteCandidate(address: gatewayAddress, priority: 1)], dtlsRole: .client,
                identity: viewerIdentity, remoteFingerprints: [gatewayIdentity.fingerprint]),
            random: .system, now: started)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 64)
        defer { buffer.deallocate() }
        // A handshake takes a few turns. A second is long enough for one on a busy machine.
        while !(viewer.isConnected && status.isConnected) {
            let now = MonotonicClock.now
            guard now - started < .seconds(5) else {
                throw BenchmarkFailure("viewer \(index) did not connect: \(status.end?.words ?? "no answer")")
            }
            if let deadline = viewer.nextDeadline, deadline <= now { viewer.handleDeadline(at: now) }
            takeOutput(of: &viewer, at: address, into: buffer, at: now)
            drain.receive { datagram in
                guard datagram.destination == address else { return }
                _ = viewer.handle(datagram.bytes, from: datagram.source, to: datagram.destination, at: now)
                takeOutput(of: &viewer, at: address, into: buffer, at: now)
            }
        }
        // Whatever the viewer would still send is not needed.
        drain.drain()
    }

    /// Delivers what a viewer has to send, as its connection requires after each input.
    private func takeOutput(
        of viewer: inout PeerConnection, at address: TransportAddress, into buffer: UnsafeMutableRawBufferPointer,
        at now: Instant
    ) {
        while let transmit = viewer.pollTransmit(into: buffer, at: now) {
            relay.deliver(
                UnsafeMutableRawBufferPointer(rebasing: buffer[..<transmit.byteCount]), from: address, at: now)
        }
        while viewer.pollEvent() != nil {}
    }
}
