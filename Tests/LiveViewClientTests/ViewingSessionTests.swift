import DTLS
import DatagramPort
import ICE
import PeerConnection
import RTP
import SDP
import Testing
import Transport

@testable import LiveViewClient

@Suite struct ViewingSessionTests {
    /// A gateway on loopback that has answered a view's offer.
    private struct AnsweringGateway {
        let port: UDPPort
        let answer: String
        let configuration: PeerConnectionConfiguration

        init(_ view: OfferedView) throws {
            var random = RandomSource.seeded(1)
            port = try UDPPort(.loopback())
            let identity = try DTLSIdentity.generate()
            let credentials = ICECredentials(using: &random)
            let addresses = ICEAddresses(hosts: [try #require(TransportAddress("127.0.0.1", port: port.localPort))])
            let picture = LocalTrack(
                kind: .video, codecs: [.vp8], ssrc: 1, cname: "camera", streamID: "camera", trackID: "video")
            let negotiated = try LiveViewAnswerer(
                local: LocalTransportDescription(credentials: credentials, identity: identity, addresses: addresses),
                tracks: [picture]
            ).answer(SessionDescription(parsing: view.offerSdp))
            answer = negotiated.answer.encoded()
            var configuration = PeerConnectionConfiguration(
                negotiated, as: .answerer, credentials: credentials, addresses: addresses, identity: identity)
            configuration.reach = .everything
            self.configuration = configuration
        }
    }

    /// A driver has to take a connection's output before the next input.
    @Test func `datagrams that arrive together are answered one by one`() throws {
        var wishes = OfferedView.Wishes()
        wishes.isLocal = true
        let view = try OfferedView(wishes: wishes, identity: try DTLSIdentity.generate())
        let gateway = try AnsweringGateway(view)
        let now = MonotonicClock.now
        let session = try ViewingSession(
            offered: view, negotiated: view.accept(answerSdp: gateway.answer), assemblesFrames: false,
            handler: { _ in }, at: now)
        var connection = try PeerConnection(configuration: gateway.configuration, random: .seeded(2), now: now)

        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { scratch.deallocate() }
        let transmit = connection.pollTransmit(into: scratch, at: now)
        let check = try #require(transmit)
        for _ in 0..<2 {
            gateway.port.send(
                UnsafeRawBufferPointer(rebasing: scratch[..<check.byteCount]), transmit: check, from: nil)
        }
        let buffers = try DatagramBuffers()
        let batch = try #require(session.port.receive(.ipv4, into: buffers))
        #expect(batch.count == 2)
        for datagram in batch { session.handle(datagram, scratch: scratch, at: now) }

        let answers = try #require(gateway.port.receive(.ipv4, into: buffers))
        #expect(answers.count >= 2)
    }

    /// A gateway that ends a view takes nothing back of what the viewer has received.
    @Test func `the counts of a view stay when it has ended`() async throws {
        var wishes = OfferedView.Wishes()
        wishes.isLocal = true
        let view = try OfferedView(wishes: wishes, identity: try DTLSIdentity.generate())
        let gateway = try AnsweringGateway(view)
        let loop = try ViewerLoop()
        defer { loop.stop() }
        let (events, continuation) = AsyncStream.makeStream(of: ViewingEvent.self)
        let running = try loop.start(view, answerSdp: gateway.answer, assemblesFrames: false) { event in
            continuation.yield(event)
            if case .ended = event { continuation.finish() }
        }
        #expect(await running.statistics().tracks.map(\.kind) == ["video"])
        running.stop()
        var hasEnded = false
        for await event in events {
            if case .ended = event { hasEnded = true }
        }
        #expect(hasEnded)
        #expect(await running.statistics().tracks.map(\.kind) == ["video"])
    }

    @Test(.timeLimit(.minutes(10))) func `a loop that is stopped ends its views, and their counts stay`() async throws {
        var wishes = OfferedView.Wishes()
        wishes.isLocal = true
        let view = try OfferedView(wishes: wishes, identity: try DTLSIdentity.generate())
        let gateway = try AnsweringGateway(view)
        let loop = try ViewerLoop()
        let (events, continuation) = AsyncStream.makeStream(of: ViewingEvent.self)
        let running = try loop.start(view, answerSdp: gateway.answer, assemblesFrames: false) { event in
            continuation.yield(event)
            if case .ended = event { continuation.finish() }
        }
        loop.stop()
        var reasons: [String] = []
        for await event in events {
            if case .ended(let reason) = event { reasons.append(reason) }
        }
        #expect(reasons == ["stopped"])
        #expect(await running.statistics().tracks.map(\.kind) == ["video"])
        // Nobody would hear of the end of a view that starts now.
        let next = try OfferedView(wishes: wishes, identity: try DTLSIdentity.generate())
        let answer = try AnsweringGateway(next).answer
        #expect(throws: (any Error).self) {
            try loop.start(next, answerSdp: answer, assemblesFrames: false) { _ in }
        }
    }

    /// The first report of a camera that nobody watched may be late by up to a picture; the next one is not.
    @Test func `the newest report says how old all pictures were`() throws {
        let view = try OfferedView(wishes: OfferedView.Wishes(), identity: try DTLSIdentity.generate())
        let negotiated = try view.accept(answerSdp: AnsweringGateway(view).answer)
        var track = ReceivedMedia(media: try #require(negotiated.media.first { $0.kind == .video }))
        let second: Int64 = 1_000_000_000
        var arrivals = PictureArrivals()
        // Timestamps of one and two seconds.
        for (timestamp, arrival) in [([0x01, 0x5F, 0x90], 100_005), ([0x02, 0xBF, 0x20], 101_007)] as [([UInt8], Int64)]
        {
            let bytes: [UInt8] = [0x80, 96, 0, 1, 0] + timestamp + [0, 0, 0, 1, 0]
            try bytes.withUnsafeBytes {
                let packet = try RTPPacketView(parsing: $0)
                track.count(packet, at: MonotonicClock.now)
                arrivals.record(packet, unixNanoseconds: arrival * 1_000_000)
            }
        }
        #expect(arrivals.ages(in: track).isEmpty)
        for (late, ages) in [(17, [-12, -10]), (0, [5, 7])] as [(Int64, [Int64])] {
            let report = RTCPSenderReport(
                ssrc: 1, ntp: NTPTimestamp(unixNanoseconds: 100 * second + late * 1_000_000), rtpTimestamp: 90_000,
                packetCount: 0, octetCount: 0)
            track.record(report, at: MonotonicClock.now)
            #expect(arrivals.ages(in: track).map { Int64((Double($0) / 1e6).rounded()) } == ages)
        }
        #expect(arrivals.count == 2)
    }

    @Test func `another source begins with numbers of its own`() throws {
        let view = try OfferedView(wishes: OfferedView.Wishes(), identity: try DTLSIdentity.generate())
        let negotiated = try view.accept(answerSdp: AnsweringGateway(view).answer)
        let video = try #require(negotiated.media.first { $0.kind == .video })
        var track = ReceivedMedia(media: video)
        var pictures = PictureReceiver(video, assembles: true)
        pictures.nacks = NackGenerator()
        var restarts: [UInt16] = []
        // A source from 30,000 on, and one from 100 on, of which the packet 102 is missing.
        let packets: [(ssrc: UInt8, number: UInt16)] = [(1, 30_000), (1, 30_001), (2, 100), (2, 101), (2, 103)]
        for (ssrc, number) in packets {
            let bytes: [UInt8] = [0x80, 96, UInt8(number >> 8), UInt8(number & 0xFF), 0, 0, 0, 1, 0, 0, 0, ssrc, 0]
            try bytes.withUnsafeBytes {
                let packet = try RTPPacketView(parsing: $0)
                if track.count(packet, at: .zero) {
                    restarts.append(number)
                    pictures.restart()
                }
                _ = pictures.insert(packet, at: .zero)
            }
        }
        #expect(restarts == [100])
        #expect(track.counts.expected == 6 && track.counts.lost == 1)
        pictures.collectRequests(at: .zero + .milliseconds(10))
        let requests = pictures.requests
        #expect(requests == [102])
    }
}
