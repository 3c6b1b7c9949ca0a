import NetworkSimulator
import RTP
import Testing
import Transport

@testable import MediaRelay

/// Viewers behind lines that lose packets, and behind lines that are too slow.
@Suite struct LossTests {
    /// A camera of 2.2 Mbit/s, as they are.
    private static func makeWorld(seed: UInt64 = 7) throws -> RelayWorld {
        try RelayWorld(seed: seed) {
            $0.frameSize = 16_500
            $0.keyFrameSize = 60_000
        }
    }

    /// A player that asks as Chromium does: ten times, each 100 ms, and waits for that long.
    private static func addPatientViewer(_ number: Int = 1, to world: RelayWorld) throws -> SimulatedViewer {
        try world.addViewer(number) {
            $0.patience = .milliseconds(1_500)
            $0.nacks = NackGenerator.Configuration(maximumAge: .milliseconds(1_200), maximumRequests: 10)
            $0.assumedRoundTrip = .milliseconds(80)
        }
    }

    /// Puts a line between the relay and a viewer.
    private static func setLine(
        _ world: RelayWorld, _ viewer: SimulatedViewer, down: LinkConditions, up: LinkConditions
    ) {
        world.simulation.network.setConditions(down, from: world.host.addresses[0], to: viewer.addresses[0])
        world.simulation.network.setConditions(up, from: viewer.addresses[0], to: world.host.addresses[0])
    }

    private static let clean = LinkConditions(latency: .milliseconds(10))

    /// Lets a viewer watch for half a minute behind a line, and answers its share of the pictures.
    private func share(
        _ world: RelayWorld, down: LinkConditions, up: LinkConditions = LossTests.clean
    ) throws -> (pictures: Double, statistics: ViewerStatistics) {
        world.run(.seconds(2))
        let viewer = try Self.addPatientViewer(to: world)
        #expect(world.connect(viewer))
        world.run(.seconds(1))
        Self.setLine(world, viewer, down: down, up: up)
        let (begin, first) = (world.now, viewer.pictures.count)
        world.run(.seconds(30))
        let made = world.camera.pictureTimes.count { $0 > begin && $0 <= world.now }
        #expect(viewer.brokenFrames == 0 && world.host.outbox.keyStreamReuses == 0)
        let statistics = try world.relayed(viewer).readStatistics()
        return (Double(viewer.pictures.count - first) / Double(made), statistics)
    }

    @Test(arguments: [0.01, 0.05, 0.1, 0.2], [false, true])
    func randomLossCostsNextToNoPictures(loss: Double, both: Bool) throws {
        let lossy = LinkConditions(latency: .milliseconds(10), loss: loss)
        let (pictures, statistics) = try share(Self.makeWorld(), down: lossy, up: both ? lossy : Self.clean)
        #expect(pictures >= 0.98, "\(pictures)")
        #expect(statistics.framesDropped == 0)
        // Each loss is made good once, or again where that was lost too.
        let resent = Double(statistics.bytesRetransmitted) / Double(statistics.bytesSent)
        #expect(resent < loss * 1.6, "\(resent)")
    }

    @Test func burstsAndReorderingCostNextToNoPictures() throws {
        var bursts = Self.clean
        // One datagram in a hundred begins a burst of eight on average.
        bursts.burstLoss = BurstLoss(becomesBad: 0.01, becomesGood: 0.125)
        #expect(try share(Self.makeWorld(), down: bursts).pictures >= 0.98)
        var reordering = Self.clean
        reordering.reordering = 0.1
        reordering.reorderingDelay = .milliseconds(15)
        reordering.duplication = 0.02
        #expect(try share(Self.makeWorld(), down: reordering, up: reordering).pictures >= 0.98)
    }

    /// Chromium reports with each request, and each report is about a few packets.
    @Test func reportsOfHeavyLossAloneLeaveNothingOut() throws {
        let world = try Self.makeWorld()
        let viewer = try world.addViewer {
            $0.reportedLoss = 128
            $0.reportInterval = .milliseconds(50)
        }
        #expect(world.connect(viewer))
        world.run(.seconds(20))
        #expect(viewer.missingPictures == 0 && viewer.pictures.count > 290)
        let statistics = try world.relayed(viewer).readStatistics()
        #expect(statistics.framesDropped == 0 && statistics.fractionLost == 0.5)
    }

    @Test func aLineThatIsTooSlowGetsNoFloodOfRetransmissions() throws {
        let world = try Self.makeWorld()
        world.run(.seconds(2))
        let slow = try Self.addPatientViewer(1, to: world)
        let other = try Self.addPatientViewer(2, to: world)
        #expect(world.connect(slow) && world.connect(other))
        world.run(.seconds(1))
        var narrow = Self.clean
        narrow.bitsPerSecond = 1_320_000
        narrow.queueLimit = .milliseconds(50)
        Self.setLine(world, slow, down: narrow, up: Self.clean)
        let relayed = try world.relayed(slow)
        let before = relayed.readStatistics()
        let asked = world.camera.requests.count
        for _ in 0..<30 {
            world.run(.seconds(1))
            let now = relayed.readStatistics()
            let capacity = RetransmissionBudget.capacity(recentBytes: relayed.egress[0].track.recentBytes.busiestSecond)
            let bound = 2 * (now.bytesSent - before.bytesSent) + capacity
            #expect(now.bytesRetransmitted - before.bytesRetransmitted <= bound)
        }
        // The viewer asks for key frames itself, too; the camera is asked once a second at most.
        #expect(world.camera.requests.count - asked <= 31)
        #expect(other.missingPictures == 0)
    }

    /// What one could do to the gateway's line: each request names the newest hundred packets.
    @Test func aHostileViewerDrawsNoMoreThanTwiceTheStream() throws {
        let world = try Self.makeWorld()
        let viewer = try world.addViewer { $0.asksAgain = false }
        let other = try Self.addPatientViewer(2, to: world)
        #expect(world.connect(viewer) && world.connect(other))
        world.run(.seconds(3))
        let relayed = try world.relayed(viewer)
        let before = relayed.readStatistics()
        let asked = world.camera.requests.count
        for _ in 0..<2_000 {
            let newest = try #require(viewer.newestNumber)
            viewer.askAgain(for: (1...100).map { newest &- $0 })
            world.run(.milliseconds(5))
        }
        let after = relayed.readStatistics()
        let sent = after.bytesSent - before.bytesSent
        let resent = after.bytesRetransmitted - before.bytesRetransmitted
        let capacity = RetransmissionBudget.capacity(recentBytes: relayed.egress[0].track.recentBytes.busiestSecond)
        #expect(resent <= 2 * sent + capacity, "\(resent) of \(sent)")
        // The bound is what holds it, and no other.
        #expect(resent > sent && after.retransmissionsRefused > 10_000)
        #expect(world.camera.requests.count - asked <= 6)
        #expect(other.missingPictures == 0 && viewer.missingPictures == 0)
    }

    @Test func theBudgetFollowsWhatIsSent() {
        var budget = RetransmissionBudget()
        #expect(budget.take(1) == false)
        budget.refill(bytesSent: 1_000, recentBytes: 1_000)
        #expect(budget.take(1_500) && !budget.take(501) && budget.take(500) && !budget.take(1))
        #expect(budget.take(-1) == false)
        // An hour without a request saves up one second of the stream, or what a key frame needs.
        budget.refill(bytesSent: 900_000_000, recentBytes: 250_000)
        #expect(budget.credit == 500_000)
        budget.refill(bytesSent: 900_000_000, recentBytes: 0)
        #expect(budget.credit == RetransmissionBudget.leastCapacity)
    }

    @Test func theBusiestSecondOfTwoCounts() {
        var bytes = RecentBytes()
        let start = RelayWorld.start
        bytes.add(500, at: start)
        bytes.add(300, at: start + .milliseconds(999))
        #expect(bytes.busiestSecond == 800)
        bytes.add(100, at: start + .milliseconds(1_100))
        #expect(bytes.busiestSecond == 800)
        bytes.add(100, at: start + .milliseconds(2_200))
        #expect(bytes.busiestSecond == 100)
        bytes.add(70, at: start + .seconds(60))
        #expect(bytes.busiestSecond == 70)
    }
}
