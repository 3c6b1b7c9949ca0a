import Congestion
import NetworkSimulator
import PeerFakes
import RTP
import Testing
import Transport

@testable import MediaRelay

/// A viewer behind a line that carries 60 % of the camera's only stream.
@Suite struct LimitedLineTests {
    static let rate = 1_320_000

    static func makeWorld(_ change: (inout SimulatedCamera.Shape) -> Void = { _ in }) throws -> RelayWorld {
        try RelayWorld(seed: 11) {
            $0.frameSize = 16_500
            $0.keyFrameSize = 60_000
            $0.answersRequests = false
            change(&$0)
        }
    }

    /// A player that asks as Chromium does.
    static func addViewer(
        to world: RelayWorld, number: Int = 1, transportFeedback: Bool = true
    ) throws -> (viewer: SimulatedViewer, relayed: Viewer) {
        world.run(.seconds(2))
        let viewer = try world.addViewer(number) {
            $0.hasTransportSequence = transportFeedback
            $0.transportFeedback = transportFeedback ? .milliseconds(100) : nil
            $0.patience = .milliseconds(1_500)
            $0.nacks = NackGenerator.Configuration(maximumAge: .milliseconds(1_200), maximumRequests: 10)
            $0.assumedRoundTrip = .milliseconds(80)
        }
        #expect(world.connect(viewer))
        world.run(.seconds(3))
        return (viewer, try world.relayed(viewer))
    }

    /// Limits the line to a viewer; nil for a line that polices its rate.
    static func limit(_ world: RelayWorld, _ viewer: SimulatedViewer, to rate: Int?, queue: Int64? = nil) {
        var line = LinkConditions(latency: .milliseconds(10))
        line.bitsPerSecond = rate
        if let queue { line.queueLimit = .milliseconds(queue) } else { line.policedBurst = 16_000 }
        world.simulation.network.setConditions(line, from: world.host.addresses[0], to: viewer.addresses[0])
    }

    private func bits(_ relayed: Viewer) -> Double {
        Double(relayed.wire.bytes + relayed.wire.datagrams * UInt64(BandwidthEstimator.headerBytes)) * 8
    }

    @Test(arguments: [nil, 50, 200, 400] as [Int64?])
    func theLineIsFilledAndNotFloodedAndSoundIsWhole(queue: Int64?) throws {
        let world = try Self.makeWorld()
        let (viewer, relayed) = try Self.addViewer(to: world)
        #expect(!relayed.line.isLimited)
        Self.limit(world, viewer, to: Self.rate, queue: queue)
        world.run(.milliseconds(1_200))
        #expect(relayed.line.isLimited)
        world.run(.milliseconds(1_800))
        let (sent, sounds, pictures, made) = (
            bits(relayed), viewer.sounds.count, viewer.pictures.count, world.camera.keyFrames.count
        )
        let overflowed = world.simulation.network.statistics.overflowed
        world.run(.seconds(30))
        let rate = (bits(relayed) - sent) / 30
        #expect(rate < Double(Self.rate) * 1.1 && rate > Double(Self.rate) * 0.85, "\(rate)")
        #expect(world.simulation.network.statistics.overflowed - overflowed < 30 * 8)
        #expect(viewer.sounds.count - sounds >= 30 * 50 * 98 / 100, "\(viewer.sounds.count - sounds)")
        // 450 are made.
        let seen = viewer.pictures[pictures...]
        #expect(seen.count > 180, "\(seen.count)")
        #expect(seen.count(where: \.isKeyFrame) >= world.camera.keyFrames.count - made - 2)
        let stale = seen.map { $0.at - world.camera.pictureTimes[$0.number] }.max() ?? .zero
        #expect(stale < .seconds(3), "\(stale)")
        #expect(viewer.brokenFrames == 0 && world.host.outbox.keyStreamReuses == 0)
        Self.limit(world, viewer, to: nil)
        world.run(.seconds(9))
        #expect(!relayed.line.isLimited)
        let (begin, first) = (world.now, viewer.pictures.count)
        world.run(.seconds(5))
        #expect(viewer.pictures.count - first >= world.camera.pictureTimes.count { $0 > begin } - 1)
    }

    /// Without feedback, reports and the round trips of checks have to do.
    @Test(arguments: [nil, 200] as [Int64?]) func aPlayerWithoutFeedbackIsServedToo(queue: Int64?) throws {
        let world = try Self.makeWorld()
        let (viewer, relayed) = try Self.addViewer(to: world, transportFeedback: false)
        Self.limit(world, viewer, to: Self.rate, queue: queue)
        world.run(.seconds(6))
        #expect(relayed.line.isLimited)
        let (sent, sounds, pictures) = (bits(relayed), viewer.sounds.count, viewer.pictures.count)
        world.run(.seconds(30))
        let rate = (bits(relayed) - sent) / 30
        #expect(rate < Double(Self.rate) * 1.2 && rate > Double(Self.rate) * 0.5, "\(rate)")
        #expect(viewer.sounds.count - sounds >= 30 * 50 * 95 / 100, "\(viewer.sounds.count - sounds)")
        #expect(viewer.pictures.count - pictures > 100, "\(viewer.pictures.count - pictures)")
        Self.limit(world, viewer, to: nil)
        world.run(.seconds(20))
        #expect(!relayed.line.isLimited)
    }

    /// Half of the frames are enough, and the line carries them: no other is left out.
    @Test func framesThatNobodyNeedsAreLeftOutFirst() throws {
        let world = try Self.makeWorld { $0.unreferencedInterval = 2 }
        let (viewer, relayed) = try Self.addViewer(to: world)
        Self.limit(world, viewer, to: Self.rate, queue: 200)
        world.run(.seconds(5))
        let first = viewer.pictures.count
        let dropped = relayed.readStatistics().framesDropped
        world.run(.seconds(30))
        let seen = viewer.pictures[first...]
        let referenced = seen.filter { picture in
            let start = world.camera.keyFrames.last { $0 <= picture.number } ?? 0
            return (picture.number - start) % 2 == 0
        }
        #expect(referenced.count > 210, "\(referenced.count) of \(seen.count)")
        #expect(seen.count > referenced.count + 5, "what there is room for")
        #expect(relayed.readStatistics().framesDropped > dropped + 50)
        let stale = seen.map { $0.at - world.camera.pictureTimes[$0.number] }.max() ?? .zero
        #expect(stale < .seconds(1), "\(stale)")
        #expect(viewer.brokenFrames == 0)
    }

    /// What the camera makes arrives where packets overtake each other by 100 ms, or nothing does for 200 ms.
    @Test func longReorderingAndLongBurstsCostNextToNoPictures() throws {
        for isBurst in [false, true] {
            let world = try Self.makeWorld()
            let (viewer, relayed) = try Self.addViewer(to: world)
            var line = LinkConditions(latency: .milliseconds(10))
            if !isBurst {
                line.reordering = 0.1
                line.reorderingDelay = .milliseconds(100)
            }
            let (begin, first) = (world.now, viewer.pictures.count)
            for step in 0..<150 {
                let conditions = isBurst && step % 10 == 0 ? .cut : line
                world.simulation.network.setConditions(
                    conditions, from: world.host.addresses[0], to: viewer.addresses[0])
                world.run(.milliseconds(200))
                #expect(!relayed.line.isLimited)
            }
            world.run(.seconds(1))
            let made = world.camera.pictureTimes.count { $0 > begin && $0 <= world.now - .seconds(1) }
            let share = Double(viewer.pictures.count - first) / Double(made)
            #expect(share >= 0.99 && viewer.brokenFrames == 0, "\(isBurst) \(share)")
            let statistics = relayed.readStatistics()
            let resent = Double(statistics.bytesRetransmitted) / Double(statistics.bytesSent)
            // A tenth of the time nothing arrives; what overtakes is not taken for lost again and again.
            #expect(resent < (isBurst ? 0.35 : 0.25), "\(isBurst) \(resent)")
        }
    }

    /// A receiver's estimate may be anything. It has a floor and an end, and others notice nothing.
    @Test func aTinyEstimateOfTheReceiverHarmsOnlyItself() throws {
        let world = try Self.makeWorld()
        let (viewer, relayed) = try Self.addViewer(to: world, transportFeedback: false)
        let other = try world.addViewer(2)
        #expect(world.connect(other))
        for _ in 0..<20 {
            viewer.send { $0.writeReceiverEstimatedMaximumBitrate(senderSSRC: 9, bitsPerSecond: 1, ssrcs: [1]) }
            world.run(.milliseconds(500))
        }
        #expect(relayed.line.isLimited && other.missingPictures == 0)
        #expect(viewer.sounds.suffix(400).count == 400)
        world.run(.seconds(12))
        #expect(!relayed.line.isLimited)
        let first = viewer.pictures.count
        world.run(.seconds(5))
        #expect(viewer.pictures.count - first >= 70)
    }
}
