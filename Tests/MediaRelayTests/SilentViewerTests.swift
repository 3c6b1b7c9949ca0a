import Congestion
import NetworkSimulator
import PeerFakes
import RTP
import Testing
import Transport

@testable import MediaRelay

/// Viewers that report nothing of what they get, or late, or seldom.
@Suite struct SilentViewerTests {
    private static func addViewer(
        to world: RelayWorld, reportsEach interval: Duration
    ) throws -> (viewer: SimulatedViewer, relayed: Viewer) {
        world.run(.seconds(2))
        let viewer = try world.addViewer {
            $0.hasTransportSequence = false
            $0.asksAgain = false
            $0.reportInterval = interval
        }
        #expect(world.connect(viewer))
        return (viewer, try world.relayed(viewer))
    }

    private func bits(_ relayed: Viewer) -> Double {
        Double(relayed.wire.bytes + relayed.wire.datagrams * UInt64(BandwidthEstimator.headerBytes)) * 8
    }

    @Test func aViewerThatReportsNothingGetsLittleAfterHalfAMinute() throws {
        let world = try LimitedLineTests.makeWorld()
        let (viewer, relayed) = try Self.addViewer(to: world, reportsEach: .seconds(3_600))
        world.run(.seconds(28))
        #expect(!relayed.line.isLimited && viewer.missingPictures == 0)
        world.run(.seconds(12))
        #expect(relayed.line.isLimited)
        let (sent, sounds, pictures) = (bits(relayed), viewer.sounds.count, viewer.pictures.count)
        world.run(.seconds(60))
        let rate = (bits(relayed) - sent) / 60
        #expect(rate < 550_000 && rate > 400_000, "\(rate)")
        #expect(viewer.sounds.count - sounds >= 60 * 50 - 5)
        #expect(viewer.pictures.count - pictures > 60, "\(viewer.pictures.count - pictures)")
        // It begins to report.
        viewer.shape.reportInterval = .seconds(1)
        viewer.send { $0.writeReceiverReport(ssrc: 9, blocks: [report(of: viewer)]) }
        world.run(.seconds(6))
        #expect(!relayed.line.isLimited)
        let first = viewer.pictures.count
        world.run(.seconds(5))
        #expect(viewer.pictures.count - first >= 73)
    }

    private func report(of viewer: SimulatedViewer) -> RTCPReportBlock {
        RTCPReportBlock(
            ssrc: viewer.audioSSRC, fractionLost: 0, cumulativeLost: 0, extendedHighestSequenceNumber: 1, jitter: 0,
            lastSenderReport: 0, delaySinceLastSenderReport: 0)
    }

    @Test func aSilentViewerGetsTheSmallerStream() throws {
        let world = try LimitedLineTests.makeWorld { $0.substream = (2_000, 10_000) }
        let (viewer, relayed) = try Self.addViewer(to: world, reportsEach: .seconds(3_600))
        let switches = try StreamChoosingTests().run(world, viewer, .seconds(120))
        #expect(switches.count == 1 && relayed.egress[0].track.id == world.camera.subvideo)
        let first = viewer.pictures.count
        world.run(.seconds(10))
        #expect(viewer.pictures.count - first >= 148)
    }

    /// The first report comes late, and the others are far apart.
    @Test(arguments: [7, 28] as [Int64]) func aViewerThatReportsSeldomGetsEverything(interval: Int64) throws {
        let world = try LimitedLineTests.makeWorld()
        let (viewer, relayed) = try Self.addViewer(to: world, reportsEach: .seconds(interval))
        for _ in 0..<150 {
            world.run(.seconds(1))
            #expect(!relayed.line.isLimited)
        }
        #expect(viewer.missingPictures == 0)
    }

    /// A slow line is filled, and left behind, by the reports of a viewer that are far apart, too.
    @Test(arguments: [3, 7] as [Int64]) func aViewerThatReportsSeldomIsNotStarvedOnASlowLine(interval: Int64) throws {
        let world = try LimitedLineTests.makeWorld()
        let (viewer, relayed) = try Self.addViewer(to: world, reportsEach: .seconds(interval))
        viewer.shape.asksAgain = true
        world.run(.seconds(15))
        LimitedLineTests.limit(world, viewer, to: LimitedLineTests.rate, queue: 200)
        world.run(.seconds(30))
        #expect(relayed.line.isLimited)
        let sent = bits(relayed)
        world.run(.seconds(60))
        let share = (bits(relayed) - sent) / 60 / Double(LimitedLineTests.rate)
        #expect(share > 0.8 && share < 1.2, "\(share)")
        LimitedLineTests.limit(world, viewer, to: nil)
        world.run(.seconds(90))
        #expect(!relayed.line.isLimited)
    }
}
