import NetworkSimulator
import PeerFakes
import RTP
import Testing
import Transport

@testable import MediaRelay

/// What a new viewer gets from before it came, on paths of all kinds.
@Suite struct BacklogTests {
    /// A camera of 2.4 Mbit/s with 30 frames a second and a key frame every twelve seconds, whose ring holds nine and a half
    /// seconds.
    private static func makeWorld(
        _ conditions: LinkConditions, seed: UInt64 = 7, _ change: (inout SimulatedCamera.Shape) -> Void = { _ in }
    ) throws -> RelayWorld {
        let world = try RelayWorld(conditions: conditions, seed: seed) {
            $0.framesPerSecond = 30
            $0.keyFrameInterval = 360
            $0.frameSize = 10_000
            $0.keyFrameSize = 40_000
            $0.hasSound = false
            change(&$0)
        }
        world.run(.milliseconds(9_500))
        return world
    }

    /// Lets a viewer join that asks for lost packets as browsers do.
    private static func join(
        _ world: RelayWorld, _ change: (inout SimulatedViewer.Shape) -> Void = { _ in }
    ) throws -> (viewer: SimulatedViewer, connected: Instant, live: Int) {
        let viewer = try world.addViewer {
            $0.hasSound = false
            $0.transportFeedback = .milliseconds(100)
            $0.patience = .milliseconds(1_500)
            $0.nacks = NackGenerator.Configuration(maximumAge: .milliseconds(1_200), maximumRequests: 10)
            change(&$0)
        }
        #expect(world.connect(viewer))
        return (viewer, world.now, world.camera.pictureTimes.count - 1)
    }

    /// How long after it was connected the viewer had the picture `live`.
    private static func caughtUp(
        _ viewer: SimulatedViewer, _ live: Int, since connected: Instant
    ) throws -> Duration {
        try #require(viewer.pictures.first { $0.number >= live }).at - connected
    }

    /// On a local network ten seconds arrive within some tens of milliseconds, and the receiver's socket buffer never has
    /// to hold more than a few packets.
    @Test func tenSecondsArriveAtOnceOnALocalNetwork() throws {
        let world = try Self.makeWorld(LinkConditions(latency: .microseconds(150)))
        let (viewer, connected, live) = try Self.join(world)
        world.run(.seconds(2))
        #expect(viewer.hasEveryPicture(from: 0) && viewer.brokenFrames == 0)
        #expect(try Self.caughtUp(viewer, live, since: connected) < .milliseconds(60))
        var arrived = 0
        var sent = 0
        for run in world.runs(for: viewer) where run.at - connected < .milliseconds(100) {
            while arrived < viewer.videoArrivals.count, viewer.videoArrivals[arrived] <= run.at { arrived += 1 }
            sent += run.transmit.datagramCount
            #expect(sent - arrived <= BacklogPacer.receiverRoom + 16)
        }
        #expect(sent > 2_000)
    }

    @Test func aPathWithDelayIsFilledWithinSomeRoundTrips() throws {
        let world = try Self.makeWorld(LinkConditions(latency: .milliseconds(20)))
        let (viewer, connected, live) = try Self.join(world)
        world.run(.seconds(3))
        #expect(viewer.hasEveryPicture(from: 0))
        let duration = try Self.caughtUp(viewer, live, since: connected)
        #expect(duration < .milliseconds(320), "\(duration)")
    }

    /// A line of 30 Mbit/s: it carries what it can from beginning to end, and next to nothing is dropped.
    @Test func theBacklogKeepsToTheRateOfTheLine() throws {
        var line = LinkConditions(latency: .milliseconds(5))
        line.bitsPerSecond = 30_000_000
        line.queueLimit = .milliseconds(100)
        let world = try Self.makeWorld(line)
        let (viewer, connected, live) = try Self.join(world)
        world.run(.seconds(6))
        let duration = try Self.caughtUp(viewer, live, since: connected)
        // 3.2 MB with all headers take 0.85 s at the line's rate.
        #expect(duration < .milliseconds(1_100), "\(duration)")
        let statistics = try world.relayed(viewer).readStatistics()
        let resent = Double(statistics.packetsRetransmitted) / Double(statistics.packetsSent)
        #expect(resent < 0.02, "\(resent)")
        #expect(viewer.numbers.last == world.camera.pictureTimes.count - 1)
    }

    /// The line carries 60 % of the stream. It is not flooded with what came before.
    @Test(arguments: [50, 200]) func aLineThatIsTooSlowIsNotFlooded(queue: Int) throws {
        var line = LinkConditions(latency: .milliseconds(10))
        line.bitsPerSecond = 1_440_000
        line.queueLimit = .milliseconds(queue)
        // A key frame that came at its request would be another beginning, at the live edge.
        let world = try Self.makeWorld(LinkConditions(latency: .milliseconds(10))) { $0.answersRequests = false }
        let viewer = try world.addViewer {
            $0.hasSound = false
            $0.transportFeedback = .milliseconds(100)
            $0.patience = .milliseconds(1_500)
            $0.nacks = NackGenerator.Configuration(maximumAge: .milliseconds(1_200), maximumRequests: 10)
        }
        world.simulation.network.setConditions(line, from: world.host.addresses[0], to: viewer.addresses[0])
        #expect(world.connect(viewer))
        let connected = world.now
        world.run(.milliseconds(1_400))
        let sent = world.runs(for: viewer).filter { $0.at >= connected }.reduce(0) { $0 + $1.bytes.count }
        // What the line carries in this time, and twice as much again at most: the first window, and repairs of its losses.
        let statistics = try world.relayed(viewer).readStatistics()
        #expect(sent < 3 * 1_440_000 / 8 * 14 / 10, "\(sent) \(statistics.bytesRetransmitted)")
        #expect(sent > 1_440_000 / 8 * 14 / 10 / 2, "\(sent)")
        world.run(.seconds(8))
        // A queue that holds seven packets loses more of the first key frame than is repaired before the next one comes.
        #expect((queue < 100 || !viewer.pictures.isEmpty) && viewer.brokenFrames == 0)
    }

    /// Losing a fifth of everything in both directions must not make a start slow.
    @Test(arguments: [0.02, 0.2]) func aLossyPathGetsItsBacklogToo(loss: Double) throws {
        let world = try Self.makeWorld(LinkConditions(latency: .milliseconds(10), loss: loss), seed: 11)
        let (viewer, connected, live) = try Self.join(world) { $0.assumedRoundTrip = .milliseconds(80) }
        world.run(.seconds(6))
        let duration = try Self.caughtUp(viewer, live, since: connected)
        #expect(duration < .milliseconds(loss < 0.1 ? 900 : 2_500), "\(duration)")
        #expect(viewer.brokenFrames == 0 && world.host.outbox.keyStreamReuses == 0)
        #expect(loss > 0.1 || viewer.missingPictures == 0, "\(viewer.missingPictures)")
        #expect(viewer.pictures.count > 100, "\(viewer.pictures.count)")
    }

    /// Every second frame of the backlog is left out, and none after it.
    @Test(arguments: [0, 0.05]) func framesThatNobodyNeedsAreLeftOutOfTheBacklog(loss: Double) throws {
        let world = try Self.makeWorld(LinkConditions(latency: .milliseconds(2), loss: loss), seed: 5) {
            $0.unreferencedInterval = 2
        }
        let (viewer, _, live) = try Self.join(world)
        world.run(.seconds(4))
        let backlog = viewer.numbers.filter { $0 < live - 1 }
        #expect(backlog == Array(stride(from: 0, to: live - 1, by: 2)))
        // What the camera makes while the backlog is on its way belongs to it.
        let first = live + (loss == 0 ? 8 : 50)
        let after = viewer.numbers.filter { $0 >= first }
        #expect(after == Array(first..<first + after.count) && after.count > 50, "\(after)")
        #expect(viewer.brokenFrames == 0 && world.host.outbox.keyStreamReuses == 0)
        if loss == 0 {
            #expect(viewer.hasContinuousSequence)
        } else {
            #expect(viewer.retransmissions > 20)
        }
        for (one, next) in zip(viewer.pictures, viewer.pictures.dropFirst()) {
            #expect(Int32(bitPattern: next.timestamp &- one.timestamp) > 0)
        }
        world.run(.seconds(6))
        var egress = try world.relayed(viewer).egress[0]
        egress.forgetOldEpochs(at: world.now)
        #expect(egress.earlierEpochCount == 0)
    }

    // MARK: The pacer alone

    private let start = Instant(nanoseconds: 1_000_000_000)

    /// Sends what the pacer allows at `now`. Returns the probes.
    private func send(_ pacer: inout BacklogPacer, at now: Instant) -> [UInt64] {
        var probes: [UInt64] = []
        while case let room = pacer.room(at: now), room > 0, let probe = pacer.recordSent(room, at: now) {
            probes.append(probe)
        }
        return probes
    }

    @Test func withoutAnyAnswerAWindowGoesOutNowAndThen() {
        var pacer = BacklogPacer()
        pacer.begin(roundTrip: .milliseconds(5), at: start)
        var sent: UInt64 = 0
        var now = start
        while now < start + .seconds(1) {
            if let newest = send(&pacer, at: now).last { sent = newest }
            now = max(pacer.nextBurst, now + .microseconds(100))
        }
        #expect((80...250).contains(sent), "\(sent)")
        #expect(pacer.window == BacklogPacer.leastWindow)
    }

    @Test func answersLetTheWindowGrowUntilTheyComeLate() {
        var pacer = BacklogPacer()
        pacer.begin(roundTrip: .milliseconds(40), at: start)
        #expect(send(&pacer, at: start) == [16])
        #expect(send(&pacer, at: start + .milliseconds(1)) == [32])
        pacer.recordAnswer(to: 16, roundTrip: .milliseconds(40), at: start + .milliseconds(40))
        #expect(pacer.window == 80)
        pacer.recordAnswer(to: 32, roundTrip: .milliseconds(60), at: start + .milliseconds(61))
        #expect(pacer.window == 80, "it waited for 20 ms")
        #expect(send(&pacer, at: start + .milliseconds(61)) == [48])
        pacer.recordAnswer(to: 48, roundTrip: .milliseconds(300), at: start + .milliseconds(361))
        #expect((8...20).contains(pacer.window), "\(pacer.window)")
        // What it never sent cannot be acknowledged.
        pacer.recordAnswer(to: 5_000, roundTrip: .zero, at: start + .milliseconds(362))
        #expect(pacer.window < 40)
    }

    @Test func heavyLossHalvesTheWindowOnceForWhatIsOnItsWay() {
        var pacer = BacklogPacer()
        pacer.begin(roundTrip: .milliseconds(10), at: start)
        for step in 0..<4 { _ = send(&pacer, at: start + .milliseconds(step)) }
        pacer.recordLost(1)
        #expect(pacer.window == 64 && send(&pacer, at: start + .milliseconds(4)).isEmpty)
        for _ in 0..<15 { pacer.recordLost(1) }
        #expect(pacer.window == 32)
        for _ in 0..<8 { pacer.recordLost(1) }
        #expect(pacer.window == 32)
        for _ in 0..<100 { pacer.recordLost(1) }
        #expect(pacer.window == BacklogPacer.leastWindow)
    }
}
