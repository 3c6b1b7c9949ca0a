import DTLS
import DatagramPort
import Glibc
import ICE
import PeerConnection
import PeerFakes
import RTP
import SDP
import StationFakes
import Testing
import Transport

@testable import Signalling
@testable import Stations

/// A viewer on a socket of its own that does as little as it must.
final class LoopbackViewer {
    /// Counts what comes.
    private final class Player: SimulatedPeer {
        private(set) var packets = 0
        private(set) var hasSeenGoodbye = false
        /// The values of the playout delay in the packets that have one.
        private(set) var playoutDelays: [[UInt8]] = []

        override func receiveRTP(_ packet: UnsafeRawBufferPointer, at now: Instant) {
            packets += 1
            guard let view = try? RTPPacketView(parsing: packet),
                let delay = view.headerExtension(LoopbackViewer.playoutDelayExtension)
            else { return }
            playoutDelays.append(Array(delay))
        }

        override func receiveRTCP(_ packet: UnsafeRawBufferPointer, at now: Instant) {
            for packet in RTCPPackets(packet) {
                if case .goodbye = packet { hasSeenGoodbye = true }
            }
        }
    }

    /// The identifier of the playout delay in an offer that asks for it.
    static let playoutDelayExtension: UInt8 = 9

    let port: UDPPort
    let offerer: LiveViewOfferer
    private let credentials: ICECredentials
    private let identity: DTLSIdentity
    private let buffers: DatagramBuffers
    private var player: Player?

    init() throws {
        port = try UDPPort(.loopback())
        buffers = try DatagramBuffers()
        identity = try Identities.viewer.get()
        var random = RandomSource.system
        credentials = ICECredentials(using: &random)
        offerer = LiveViewOfferer(
            viewing: LocalTransportDescription(
                credentials: credentials, identity: identity, addresses: ICEAddresses(hosts: [])),
            talks: true, sessionID: 1, ssrc: 99, cname: "viewer")
    }

    var offer: String { offerer.offer().encoded() }
    var packets: Int { player?.packets ?? 0 }
    var playoutDelays: [[UInt8]] { player?.playoutDelays ?? [] }
    var hasSeenGoodbye: Bool { player?.hasSeenGoodbye ?? false }
    var isConnected: Bool { player?.isConnected ?? false }
    var failure: PeerConnectionFailure? { player?.failure?.reason }

    func accept(_ answer: String) throws {
        let session = try offerer.accept(answer: SessionDescription(parsing: answer))
        player = try Player(
            PeerConnectionConfiguration(
                session, as: .offerer, credentials: credentials,
                addresses: ICEAddresses(hosts: [try #require(TransportAddress("127.0.0.1", port: port.localPort))]),
                identity: identity),
            random: .system, now: MonotonicClock.now)
    }

    func close() {
        player?.connection.close()
        drain()
    }

    /// Runs until `isDone`, which must not take longer than five minutes.
    func run(until isDone: () -> Bool) -> Bool {
        for _ in 0..<60_000 {
            if isDone() { return true }
            drain()
            wait()
            receive()
            player?.handleDeadline(at: MonotonicClock.now)
        }
        return isDone()
    }

    private func drain() {
        var buffer = [UInt8](repeating: 0, count: 1500)
        buffer.withUnsafeMutableBytes { bytes in
            while let transmit = player?.pollTransmit(into: bytes, at: MonotonicClock.now)?.transmit {
                port.send(UnsafeRawBufferPointer(bytes), transmit: transmit, from: nil)
            }
        }
    }

    /// Until something comes, but no longer than 5 ms.
    private func wait() {
        var watched = port.descriptors.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        _ = poll(&watched, nfds_t(watched.count), 5)
    }

    private func receive() {
        while let batch = port.receive(.ipv4, into: buffers) {
            for datagram in batch {
                player?.receive(
                    datagram.bytes, from: datagram.source, to: datagram.destination, at: MonotonicClock.now)
                drain()
            }
        }
    }
}

@Suite(.ownThread) struct LoopbackViewerTests {
    @Test func aViewerSeesTheCameraAndTheServiceSeesItGo() async throws {
        let world = try await ServiceWorld()
        let viewer = try LoopbackViewer()
        let session = try await world.start(viewer.offer)
        try viewer.accept(session.answerSdp)
        world.camera.sendKeyFrame(number: 1, at: MonotonicClock.now)
        #expect(viewer.run { viewer.isConnected && viewer.packets >= 4 })
        let snapshot = try #require(await world.service.sessions().first)
        #expect(snapshot.state == .connected)
        #expect(snapshot.steps.map(\.name).contains("firstKeyFrame"))
        #expect(snapshot.statistics.packetsSent == 4)
        // It closes its page: nobody waits for consent to run out.
        viewer.close()
        await world.announcements.waitForEnd()
        #expect(await world.service.sessions().isEmpty)
        #expect(world.announcements.ends.count == 1)
        #expect(world.announcements.all.contains(.connected(mediaSessionId: session.mediaSessionId, deviceID: "door")))
    }

    @Test func aViewerThatOffersThePlayoutDelayIsSentIt() async throws {
        let world = try await ServiceWorld()
        let viewer = try LoopbackViewer()
        let uri = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
        let line = "a=extmap:\(LoopbackViewer.playoutDelayExtension) \(uri)\r\n"
        // The offer ends with the media section of the pictures.
        let session = try await world.start(viewer.offer + line)
        #expect(session.answerSdp.contains(line))
        try viewer.accept(session.answerSdp)
        world.camera.sendKeyFrame(number: 1, at: MonotonicClock.now)
        #expect(viewer.run { viewer.packets >= 4 })
        #expect(viewer.playoutDelays == [[UInt8]](repeating: [0, 0, 40], count: 4))
    }

    @Test func aSessionThatIsStoppedSaysGoodbye() async throws {
        let world = try await ServiceWorld()
        let viewer = try LoopbackViewer()
        let session = try await world.start(viewer.offer)
        try viewer.accept(session.answerSdp)
        #expect(viewer.run { viewer.isConnected })
        // The relay's side is connected when its first report or packet comes.
        world.camera.sendKeyFrame(number: 1, at: MonotonicClock.now)
        #expect(viewer.run { viewer.packets >= 4 })
        try await world.service.stopLiveView(SessionReference(session.mediaSessionId, principal: "owner"))
        #expect(viewer.run { viewer.hasSeenGoodbye && viewer.failure != nil })
        #expect(viewer.failure == .closedByPeer)
    }
}
