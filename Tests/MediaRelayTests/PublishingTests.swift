import DTLS
import ICE
import NetworkSimulator
import PeerConnection
import PeerFakes
import RTP
import Testing
import Transport

@testable import MediaRelay

/// A publisher, the network, and the relay that receives its media.
private struct PublishingWorld {
    let simulation: Simulation
    let host: RelayHost
    let publisher: SimulatedPublisher

    init(
        conditions: LinkConditions = LinkConditions(latency: .milliseconds(20)), seed: UInt64 = 3,
        hasTransportSequence: Bool = true, offeredSource: UInt32 = SimulatedPublisher.videoSSRC
    ) throws {
        let now = RelayWorld.start
        let relayAddress = try #require(TransportAddress("203.0.113.5", port: 8189))
        let address = try #require(TransportAddress("198.51.100.7", port: 40_000))
        host = try RelayHost(address: relayAddress, limits: RelayLimits(), seed: seed, now: now)
        var random = RandomSource.seeded(seed)
        let (theirs, ours) = (ICECredentials(using: &random), ICECredentials(using: &random))
        let pair = try PeerPair(from: address, theirs, to: relayAddress, ours)
        publisher = try SimulatedPublisher(pair.offerer, name: "publisher", seed: random.next(), now: now)
        let notices = publisher.notices
        host.shard.add(
            PublisherConfiguration(
                sessionID: publisher.name,
                peer: pair.answerer,
                tracks: PublishedTrack.simulated(
                    offeredSource: offeredSource, hasTransportSequence: hasTransportSequence),
                reducedSizeRTCP: true), as: host.makeHandle(), status: publisher.status,
            sink: publisher.packets, notify: { notices.add($0) }, at: now)
        simulation = Simulation(
            network: SimulatedNetwork(seed: seed, conditions: conditions), endpoints: [host, publisher], start: now)
    }

    var now: Instant { simulation.now }
    var packets: CollectedPackets { publisher.packets }
    var notices: Notices { publisher.notices }
    var ingest: Ingest? { host.shard.publishers.values.first?.ingest }

    func run(_ duration: Duration) {
        simulation.run(for: duration)
        #expect(simulation.stall == nil)
    }

    func requestKeyFrame() throws {
        let publisher = try #require(host.shard.publishers.values.first)
        publisher.ingest.requestKeyFrame(track: 0)
        host.now = now
        host.shard.service(publisher, at: now)
    }
}

@Suite struct PublishingTests {
    @Test func everythingArrivesAndIsReportedToThePublisher() throws {
        let world = try PublishingWorld()
        world.run(.seconds(4))
        #expect(world.notices.all.first == .connected)
        #expect(world.packets.video.count > 300 && world.packets.isWhole)
        #expect(world.packets.numbers == Array(0..<world.packets.video.count))
        #expect(world.packets.sound > 150)
        #expect(world.publisher.reportBlocks.count >= 6)
        #expect(Set(world.publisher.reportBlocks.map(\.ssrc)) == [500, 502])
        #expect(world.publisher.arrivals.received > 450 && world.publisher.arrivals.lost == 0)
        #expect(world.publisher.requestedPackets == 0 && world.publisher.keyFrameRequests.isEmpty)
        #expect(world.ingest?.unexpectedPackets == 0)
    }

    @Test func lostPacketsAreRequestedAgainAndPutInOrder() throws {
        let world = try PublishingWorld(conditions: LinkConditions(latency: .milliseconds(20), loss: 0.05))
        world.run(.seconds(12))
        #expect(world.publisher.requestedPackets > 20)
        #expect(world.packets.video.count > 900)
        // Nearly all lost packets have arrived again in time, and nothing arrives twice or out of order.
        let missing = world.publisher.sent - world.packets.video.count
        #expect(missing < 60)
        #expect(zip(world.packets.numbers, world.packets.numbers.dropFirst()).allSatisfy { $0 < $1 })
        #expect(world.publisher.arrivals.lost > 10)
        #expect(world.publisher.reportBlocks.contains { $0.fractionLost > 0 })
    }

    @Test func anIrreparableLossLeavesAGapAndRequestsAKeyFrame() throws {
        let world = try PublishingWorld()
        world.run(.seconds(2))
        world.publisher.retransmits = false
        world.simulation.network.setConditions(LinkConditions(latency: .milliseconds(20), loss: 0.5))
        world.run(.milliseconds(100))
        world.simulation.network.setConditions(LinkConditions(latency: .milliseconds(20)))
        world.run(.seconds(2))
        #expect(!world.packets.isWhole)
        #expect(!world.publisher.keyFrameRequests.isEmpty && world.publisher.keyFrameRequests.count <= 4)
        #expect(world.packets.numbers.last.map { $0 > world.publisher.sent - 10 } == true)
    }

    @Test func keyFrameRequestsThatComeTogetherAreMerged() throws {
        let world = try PublishingWorld()
        world.run(.seconds(2))
        for _ in 0..<10 {
            try world.requestKeyFrame()
            world.run(.milliseconds(20))
        }
        world.run(.seconds(2))
        // The first one at once, the others together when they may be.
        let requests = world.publisher.keyFrameRequests
        #expect(requests.count == 2)
        #expect(zip(requests, requests.dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(490) })
    }

    @Test func withoutTransportWideFeedbackAnEstimateIsSent() throws {
        let world = try PublishingWorld(hasTransportSequence: false)
        world.run(.seconds(4))
        #expect(world.publisher.arrivals.received == 0)
        #expect(world.publisher.estimates.count >= 2 && world.publisher.estimates.allSatisfy { $0 > 1_000_000 })
    }

    @Test func anEncoderThatRestartsUnderAnotherNumberIsFollowed() throws {
        let world = try PublishingWorld()
        world.run(.seconds(2))
        // Another source beside the agreed one must not mix in.
        world.publisher.send([0x10, 0, 0, 0, 0, 0, 0], payloadType: 96, ssrc: 900, index: 7, marker: true)
        world.publisher.send([1], payloadType: 50, ssrc: 901, index: 7, marker: true)
        world.run(.milliseconds(100))
        #expect(world.ingest?.unexpectedPackets == 2)
        #expect(world.packets.isWhole)
        world.publisher.isSending = false
        world.run(.seconds(3))
        #expect(world.packets.silences.contains { $0.track == 0 })
        let before = world.packets.video.count
        world.publisher.videoSource = 900
        world.publisher.isSending = true
        world.run(.seconds(1))
        #expect(world.packets.video.count > before + 80)
    }

    @Test func `a source that follows a goodbye is taken at its first packet`() throws {
        let world = try PublishingWorld()
        world.run(.seconds(2))
        world.publisher.isSending = false
        world.publisher.sayGoodbye([SimulatedPublisher.videoSSRC])
        world.run(.milliseconds(50))
        let before = world.packets.video.count
        world.publisher.videoSource = 900
        world.publisher.isSending = true
        world.run(.milliseconds(200))
        #expect(world.packets.video.count > before + 10)
        #expect(world.ingest?.unexpectedPackets == 0)
        #expect(!world.publisher.keyFrameRequests.isEmpty, "the new source may begin in the middle of its pictures")
    }

    @Test func `a source that alone sends takes over in a fraction of a second`() throws {
        let world = try PublishingWorld()
        world.run(.seconds(2))
        let before = world.packets.video.count
        world.publisher.videoSource = 900
        world.run(.milliseconds(800))
        #expect(world.packets.video.count > before + 30)
        #expect(!world.publisher.keyFrameRequests.isEmpty)
        let blocks = world.publisher.reportBlocks.count
        world.run(.seconds(2))
        let reported = Set(world.publisher.reportBlocks.dropFirst(blocks).map(\.ssrc))
        #expect(reported.contains(900) && !reported.contains(SimulatedPublisher.videoSSRC))
        #expect(world.publisher.reportBlocks.last { $0.ssrc == 900 }?.cumulativeLost == 0)
    }

    @Test func `another source does not mix in, however long it sends`() throws {
        let world = try PublishingWorld()
        world.run(.seconds(2))
        for index in 0..<50 {
            world.publisher.send(
                [0x10, 0, 0, 0, 0, 0, 0], payloadType: 96, ssrc: 900, index: UInt64(index), marker: true)
            world.run(.milliseconds(20))
        }
        world.run(.milliseconds(100))
        #expect(world.ingest?.unexpectedPackets == 50)
        #expect(world.packets.isWhole && world.publisher.keyFrameRequests.isEmpty)
    }

    /// The numbers of the source before have nothing to do with those of the new one.
    @Test func `a late retransmission of the source before does not stop the new one`() throws {
        let world = try PublishingWorld()
        world.run(.seconds(2))
        world.publisher.isSending = false
        world.run(.seconds(2))
        world.publisher.videoSource = 900
        world.publisher.isSending = true
        world.run(.seconds(1))
        // The new source began with the number 100, and has not come to this one.
        let number: UInt16 = 600
        world.publisher.send(
            [UInt8(number >> 8), UInt8(number & 0xFF), 0x10, 0, 0, 0, 0, 0, 0], payloadType: 97,
            ssrc: SimulatedPublisher.retransmissionSSRC, index: 7, marker: true)
        let before = world.packets.video.count
        world.run(.seconds(2))
        #expect(world.packets.video.count > before + 180)
        #expect(world.publisher.requestedPackets == 0)
    }

    /// Its timestamps have a beginning of their own, which only its first packet relates to those before.
    @Test func `the clock of a new source is passed on after its first packet`() throws {
        let sink = CollectedPackets()
        let ingest = Ingest(tracks: PublishedTrack.simulated(), reducedSizeRTCP: true, sink: sink, ssrc: 1)
        func receive(_ ssrc: UInt32, at now: Instant) throws {
            let bytes: [UInt8] = [0x80, 96, 0, 5, 0, 0, 0, 9, 0, 0, UInt8(ssrc >> 8), UInt8(ssrc & 0xFF), 0x10, 0]
            try bytes.withUnsafeBytes { try ingest.receive(RTPPacketView(parsing: $0), at: now) }
        }
        func report(_ ssrc: UInt32, at now: Instant) {
            ingest.recordSenderReport(
                RTCPSenderReport(
                    ssrc: ssrc, ntp: NTPTimestamp(unixNanoseconds: 1_800_000_000_000_000_000), rtpTimestamp: 9,
                    packetCount: 1, octetCount: 1), at: now)
        }
        try receive(SimulatedPublisher.videoSSRC, at: .zero)
        report(SimulatedPublisher.videoSSRC, at: .zero)
        #expect(sink.reports == 1)
        ingest.deliver(at: .zero)
        let later = Instant.zero + .seconds(2)
        try receive(900, at: later)
        report(900, at: later)
        #expect(sink.reports == 1)
        ingest.deliver(at: later)
        report(900, at: later)
        #expect(sink.reports == 2)
    }

    @Test func aPublisherThatVanishesOrSaysGoodbyeIsReleased() throws {
        let gone = try PublishingWorld()
        gone.run(.seconds(2))
        let counters = gone.host.shard.readCounters()
        // A publisher is not a viewer, whatever it shares with viewers in the shard.
        #expect(counters.publishers == 1 && counters.viewers == 0 && counters.connected == 0)
        gone.publisher.hasVanished = true
        gone.run(.seconds(45))
        #expect(gone.host.shard.publishers.isEmpty)
        #expect(gone.notices.all.last == .ended(.connectionFailed(.consentExpired)))
        #expect(gone.host.shard.readCounters().ended == 0)

        let polite = try PublishingWorld()
        polite.run(.seconds(2))
        polite.publisher.sayGoodbye([SimulatedPublisher.videoSSRC])
        polite.run(.milliseconds(200))
        // One track of two: it has only switched its picture off.
        #expect(polite.host.shard.publishers.count == 1)
        polite.publisher.isSending = false
        polite.run(.milliseconds(200))
        polite.publisher.sayGoodbye([SimulatedPublisher.videoSSRC, SimulatedPublisher.audioSSRC])
        polite.run(.milliseconds(200))
        #expect(polite.host.shard.publishers.isEmpty)
        #expect(polite.notices.all.last == .ended(.goodbye))
    }

    /// Datagrams may come in another order than they were sent.
    @Test func `a packet that a goodbye has overtaken does not keep the publisher`() throws {
        let world = try PublishingWorld()
        world.run(.seconds(2))
        world.publisher.isSending = false
        world.run(.milliseconds(50))
        world.publisher.sayGoodbye([SimulatedPublisher.videoSSRC])
        world.run(.milliseconds(50))
        let before = world.packets.video.count
        world.publisher.send(
            [0x10, 0, 0, 0, 0, 0, 0], payloadType: 96, ssrc: SimulatedPublisher.videoSSRC,
            index: 65_400 + UInt64(world.publisher.sent), marker: true)
        world.run(.milliseconds(50))
        #expect(world.packets.video.count == before + 1)
        #expect(world.host.shard.publishers.count == 1)
        world.publisher.sayGoodbye([SimulatedPublisher.audioSSRC])
        world.run(.milliseconds(200))
        #expect(world.host.shard.publishers.isEmpty)
        #expect(world.notices.all.last == .ended(.goodbye))
    }

    @Test func `a source that sends again after its goodbye keeps the publisher`() throws {
        let world = try PublishingWorld()
        world.run(.seconds(2))
        world.publisher.sayGoodbye([SimulatedPublisher.videoSSRC])
        world.run(.milliseconds(600))
        world.publisher.sayGoodbye([SimulatedPublisher.audioSSRC])
        world.run(.milliseconds(200))
        #expect(world.host.shard.publishers.count == 1)
    }

    @Test func `a publisher is a session of the shard, and ends with it`() throws {
        let world = try PublishingWorld()
        world.run(.seconds(2))
        let shard = world.host.shard
        let publisher = try #require(shard.publishers.values.first)
        #expect(shard.session(publisher.handle) === publisher && shard.sessions.map(\.sessionID) == ["publisher"])
        #expect(shard.viewers.isEmpty && shard.byFragment.values.allSatisfy { $0 === publisher })
        // Its principal's account stays while it lives, however full it is.
        _ = shard.checkAccount(of: "somebody else", at: world.now)
        #expect(shard.checkAccounts.values.contains { $0 === publisher.checkAccount })
        shard.handleStop(at: world.now)
        #expect(shard.publishers.isEmpty && shard.byFragment.isEmpty && shard.byAddress.isEmpty)
        #expect(world.notices.all.last == .ended(.shuttingDown))
    }

    /// Some encoders change their numbers between their offer and their first packet.
    @Test func aPublisherThatSendsUnderAnotherNumberThanItOfferedIsAccepted() throws {
        let world = try PublishingWorld(offeredSource: 0x1234)
        world.run(.seconds(4))
        #expect(world.packets.video.count > 80)
        #expect(!world.publisher.keyFrameRequests.isEmpty, "what came before is lost, so that a key frame is needed")
    }

    @Test func thePublishersClockIsPassedOn() throws {
        let world = try PublishingWorld()
        world.run(.seconds(2))
        world.publisher.sendReport(
            RTCPSenderReport(
                ssrc: SimulatedPublisher.videoSSRC, ntp: NTPTimestamp(unixNanoseconds: 1_800_000_000_000_000_000),
                rtpTimestamp: 5, packetCount: 1, octetCount: 1))
        world.run(.milliseconds(100))
        #expect(world.packets.reports == 1)
    }
}
