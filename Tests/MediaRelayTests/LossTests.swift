import NetworkSimulator
import PeerFakes
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

    /// A player that asks as Chromium does: ten times, each 100 ms, and waits for that long. Chromium tells which packets have
    /// come too; other players do not.
    private static func addPatientViewer(
        _ number: Int = 1, to world: RelayWorld, transportFeedback: Bool = true
    ) throws -> SimulatedViewer {
        try world.addViewer(number) {
            $0.transportFeedback = transportFeedback ? .milliseconds(100) : nil
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
        _ world: RelayWorld, down: LinkConditions, up: LinkConditions = LossTests.clean, transportFeedback: Bool = true
    ) throws -> (pictures: Double, delay: Duration, statistics: ViewerStatistics) {
        world.run(.seconds(2))
        let viewer = try Self.addPatientViewer(to: world, transportFeedback: transportFeedback)
        #expect(world.connect(viewer))
        world.run(.seconds(1))
        Self.setLine(world, viewer, down: down, up: up)
        let relayed = try world.relayed(viewer)
        let (begin, first) = (world.now, viewer.pictures.count)
        for _ in 0..<60 {
            world.run(.milliseconds(500))
            if down.bitsPerSecond == nil { #expect(!relayed.line.isLimited) }
        }
        let made = world.camera.pictureTimes.count { $0 > begin && $0 <= world.now }
        #expect(viewer.brokenFrames == 0 && world.host.outbox.keyStreamReuses == 0)
        let pictures = viewer.pictures[first...]
        let delays = pictures.map { ($0.at - world.camera.pictureTimes[$0.number]).inSeconds }
        let delay = Duration.seconds(delays.reduce(0, +) / Double(max(delays.count, 1)))
        return (Double(pictures.count) / Double(made), delay, relayed.readStatistics())
    }

    @Test(arguments: [0.01, 0.05, 0.1, 0.2], [false, true])
    func randomLossCostsNextToNoPictures(loss: Double, both: Bool) throws {
        let lossy = LinkConditions(latency: .milliseconds(10), loss: loss)
        let (pictures, _, statistics) = try share(Self.makeWorld(), down: lossy, up: both ? lossy : Self.clean)
        #expect(pictures >= 0.98, "\(pictures)")
        #expect(statistics.framesDropped == 0)
        // Each loss is made good once, or again where that was lost too; heavy loss with two packets each, and with
        // everything twice where requests are lost as well.
        let resent = Double(statistics.bytesRetransmitted) / Double(statistics.bytesSent)
        #expect(resent < (loss < 0.08 ? loss * 1.7 : both && loss > 0.15 ? 1.6 : loss * 3.6), "\(resent)")
    }

    /// Whatever still misses a packet when the next key frame is complete is never shown by Chromium. So the delay of the
    /// repairs is the pictures that it leaves out.
    @Test(arguments: [
        (both: false, feedback: true, most: 60), (true, true, 95), (false, false, 75), (true, false, 180),
    ])
    func heavyLossIsRepairedBeforeItIsRequestedTwice(both: Bool, feedback: Bool, most: Int) throws {
        let lossy = LinkConditions(latency: .milliseconds(10), loss: 0.2)
        let (pictures, delay, _) = try share(
            Self.makeWorld(), down: lossy, up: both ? lossy : Self.clean, transportFeedback: feedback)
        #expect(pictures >= 0.98 && delay < .milliseconds(most), "\(pictures) \(delay)")
    }

    /// Losing half of everything does not prove a slow path: at a lower rate the same share is lost.
    @Test func lossThatDoesNotDependOnTheRateEndsTheTrial() throws {
        let world = try Self.makeWorld()
        world.run(.seconds(2))
        let viewer = try Self.addPatientViewer(to: world)
        #expect(world.connect(viewer))
        world.run(.seconds(1))
        Self.setLine(world, viewer, down: LinkConditions(latency: .milliseconds(10), loss: 0.45), up: Self.clean)
        let relayed = try world.relayed(viewer)
        var limited = 0
        for _ in 0..<600 {
            world.run(.milliseconds(100))
            if relayed.line.isLimited { limited += 1 }
        }
        // A trial takes some seconds, and the next one comes after half a minute.
        #expect((10...200).contains(limited), "\(limited)")
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
    @Test func reportsOfHeavyLossAloneSkipNothing() throws {
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

    @Test func aPathThatIsTooSlowCarriesWhatItCan() throws {
        for camera in 0..<2 {
            let world = try RelayWorld(seed: 11) {
                $0.frameSize = 16_500
                $0.keyFrameSize = 60_000
                $0.answersRequests = camera == 0
            }
            var narrow = Self.clean
            narrow.bitsPerSecond = 1_320_000
            narrow.queueLimit = .milliseconds(50)
            let (pictures, delay, statistics) = try share(world, down: narrow)
            #expect(pictures > (camera == 0 ? 0.3 : 0.18), "\(pictures)")
            #expect(delay < .milliseconds(1_500), "\(delay)")
            #expect(statistics.framesDropped > 100)
            let resent = Double(statistics.bytesRetransmitted) / Double(statistics.bytesSent)
            #expect(resent < 0.7, "\(resent)")
        }
    }

    /// A line that was too slow for a while gets everything again when it is fast.
    @Test func skippedFramesReturnStepByStep() throws {
        let world = try Self.makeWorld()
        world.run(.seconds(2))
        let viewer = try Self.addPatientViewer(to: world)
        #expect(world.connect(viewer))
        var narrow = Self.clean
        narrow.bitsPerSecond = 1_320_000
        narrow.queueLimit = .milliseconds(50)
        Self.setLine(world, viewer, down: narrow, up: Self.clean)
        world.run(.seconds(15))
        let relayed = try world.relayed(viewer)
        #expect(relayed.line.isLimited)
        Self.setLine(world, viewer, down: Self.clean, up: Self.clean)
        world.run(.seconds(25))
        #expect(!relayed.line.isLimited)
        let (begin, first) = (world.now, viewer.pictures.count)
        world.run(.seconds(10))
        #expect(viewer.pictures.count - first >= world.camera.pictureTimes.count { $0 > begin } - 1)
    }

    /// Reports are free, and may say anything.
    @Test func madeUpReportsHarmNobodyElse() throws {
        let world = try Self.makeWorld()
        let viewer = try world.addViewer()
        let other = try Self.addPatientViewer(2, to: world)
        #expect(world.connect(viewer) && world.connect(other))
        world.run(.seconds(2))
        var random = RandomSource.seeded(5)
        let ssrc = viewer.videoSSRC
        for round in 0..<1_000 {
            let (highest, lost) = (UInt32(truncatingIfNeeded: random.next()), Int32(truncatingIfNeeded: random.next()))
            let block = RTCPReportBlock(
                ssrc: ssrc, fractionLost: 255, cumulativeLost: round % 3 == 0 ? lost >> 8 : Int32(round) * 4_000,
                extendedHighestSequenceNumber: round % 3 == 0 ? highest : UInt32(round) * 4_000, jitter: 0,
                lastSenderReport: 0, delaySinceLastSenderReport: 0)
            viewer.send { $0.writeReceiverReport(ssrc: 9, blocks: [block]) }
            world.run(.milliseconds(20))
        }
        #expect(other.missingPictures == 0 && other.brokenFrames == 0)
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
        let before = relayed.wire
        let asked = world.camera.requests.count
        world.run(.seconds(30))
        let datagrams = relayed.wire.datagrams - before.datagrams
        let sent = Double(relayed.wire.bytes - before.bytes + datagrams * 28) * 8 / 30
        // The second before the line was found out is among it.
        #expect(sent < 1.2 * 1_320_000, "\(sent)")
        // The viewer asks for key frames itself, too; the camera is asked once a second at most.
        #expect(world.camera.requests.count - asked <= 31)
        #expect(other.missingPictures == 0)
    }

    /// What one could do to the gateway's line: each request names the newest hundred packets. One for the sound before
    /// it changes nothing, although the sound's total is much smaller.
    @Test(arguments: [false, true]) func aHostileViewerDrawsNoMoreThanHalfOfTheStreamAgain(namesSound: Bool) throws {
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
            if namesSound {
                let ssrc = viewer.audioSSRC
                viewer.send { $0.writeNack(senderSSRC: 9, mediaSSRC: ssrc, sequenceNumbers: [1, 2, 3] as [UInt16]) }
            }
            viewer.askAgain(for: (1...100).map { newest &- $0 })
            world.run(.milliseconds(5))
        }
        let after = relayed.readStatistics()
        let sent = after.bytesSent - before.bytesSent
        let resent = after.bytesRetransmitted - before.bytesRetransmitted
        #expect(resent <= sent / 2 + 140_000, "\(resent) of \(sent)")
        // The bound is what holds it, and no other.
        #expect(resent > sent / 4 && after.retransmissionsRefused > 10_000)
        #expect(world.camera.requests.count - asked <= 6)
        #expect(other.missingPictures == 0 && viewer.missingPictures == 0)
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
