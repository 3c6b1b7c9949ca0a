import NetworkSimulator
import PeerFakes
import RTP
import Testing
import Transport

@testable import MediaRelay

@Suite struct SlowViewerTests {
    @Test func aBlockedSocketCostsOnlyWholeFrames() throws {
        let world = try RelayWorld { $0.frameSize = 20_000 }
        world.run(.seconds(1))
        let slow = try world.addViewer(1)
        let other = try world.addViewer(2)
        #expect(world.connect(slow) && world.connect(other))
        world.run(.seconds(2))
        let address = slow.addresses[0]
        var random = RandomSource.seeded(5)
        // The socket accepts a few sends now and then, and for a while none at all.
        for _ in 0..<1_000 {
            let isBlocked = random.next() % 10 < 9
            world.host.outbox.isBlocked = { isBlocked && $0 == address }
            world.run(.milliseconds(4))
        }
        world.host.outbox.isBlocked = { $0 == address }
        world.run(.seconds(5))
        world.host.outbox.isBlocked = { _ in false }
        world.run(.seconds(6))
        #expect(slow.hasContinuousSequence)
        #expect(slow.brokenFrames == 0 && slow.counters.droppedFrames == 0 && slow.counters.lostPackets == 0)
        #expect(slow.missingPictures > 20)
        let dropped = try world.relayed(slow).readStatistics().framesDropped
        #expect(dropped == UInt64(slow.missingPictures))
        // After each gap it continues with a key frame, and at the end it is at the live edge again.
        for (one, next) in zip(slow.pictures, slow.pictures.dropFirst()) where next.number != one.number + 1 {
            #expect(next.isKeyFrame)
        }
        for (one, next) in zip(slow.pictures, slow.pictures.dropFirst()) {
            #expect(Int32(bitPattern: next.timestamp &- one.timestamp) > 0)
        }
        #expect(slow.numbers.last == world.camera.pictureTimes.count - 1)
        #expect(world.host.outbox.keyStreamReuses == 0)
        #expect(other.missingPictures == 0 && other.hasContinuousSequence)
        for picture in other.pictures.dropFirst(20) {
            #expect(picture.at - world.camera.pictureTimes[picture.number] < .milliseconds(20))
        }
    }

    @Test func theCurrentFrameIsCompletedBeforeFramesAreSkipped() throws {
        let world = try RelayWorld {
            $0.keyFrameSize = 40_000
            $0.keyFrameInterval = 15
        }
        world.run(.milliseconds(50))
        let viewer = try world.addViewer()
        let relayed = try world.relayed(viewer)
        world.simulation.run(for: .seconds(1)) { relayed.isConnected }
        world.simulation.run(for: .seconds(1)) { relayed.egress[0].packetsSent > 0 }
        // The first burst has gone out: half a key frame.
        #expect(relayed.egress[0].packetsSent == 16)
        world.host.outbox.isBlocked = { _ in true }
        world.run(.milliseconds(1_750))
        world.host.outbox.isBlocked = { _ in false }
        world.run(.seconds(2))
        #expect(viewer.numbers.first == 0)
        #expect(viewer.pictures.dropFirst().first?.isKeyFrame == true)
        #expect(viewer.missingPictures >= 14)
        #expect(viewer.brokenFrames == 0 && viewer.hasContinuousSequence)
    }

    @Test func aViewerThatHasFallenOutOfTheRingWaitsForAKeyFrame() throws {
        var limits = RelayLimits()
        limits.ringDuration = .seconds(2)
        limits.maximumLag = .seconds(60)
        let world = try RelayWorld(limits: limits) { $0.keyFrameInterval = nil }
        let viewer = try world.addViewer { $0.asksAgain = false }
        #expect(world.connect(viewer))
        world.run(.seconds(3))
        world.host.outbox.isBlocked = { _ in true }
        world.run(.seconds(5))
        world.host.outbox.isBlocked = { _ in false }
        world.run(.seconds(3))
        let gap = try #require(
            zip(viewer.pictures, viewer.pictures.dropFirst()).first { $1.number != $0.number + 1 })
        #expect(gap.1.isKeyFrame)
        #expect(viewer.hasContinuousSequence)
        #expect(viewer.numbers.last == world.camera.pictureTimes.count - 1)
    }

    @Test func halfAFrameIsNotMistakenForAWholeOneWhenItsRestHasBeenEvicted() throws {
        var limits = RelayLimits()
        limits.ringDuration = .seconds(2)
        limits.maximumLag = .seconds(60)
        let world = try RelayWorld(limits: limits) {
            $0.keyFrameSize = 40_000
            $0.keyFrameInterval = 15
        }
        world.run(.milliseconds(50))
        let viewer = try world.addViewer()
        let relayed = try world.relayed(viewer)
        world.simulation.run(for: .seconds(1)) { relayed.egress[0].packetsSent > 0 }
        #expect(relayed.egress[0].packetsSent == 16)
        world.host.outbox.isBlocked = { _ in true }
        world.run(.seconds(6))
        world.host.outbox.isBlocked = { _ in false }
        world.run(.seconds(3))
        #expect(viewer.brokenFrames == 0)
        #expect(!viewer.hasContinuousSequence, "the gap shows that the rest of the frame is missing")
        #expect(viewer.pictures.first?.isKeyFrame == true && viewer.pictures.count > 30)
        #expect(viewer.numbers.last == world.camera.pictureTimes.count - 1)
    }

    @Test func halfAFrameIsNotMistakenForAWholeOneWhenTheCameraRestarts() throws {
        let world = try RelayWorld {
            $0.keyFrameSize = 40_000
            $0.keyFrameInterval = 15
        }
        world.run(.milliseconds(50))
        let viewer = try world.addViewer()
        let relayed = try world.relayed(viewer)
        world.simulation.run(for: .seconds(1)) { relayed.egress[0].packetsSent > 0 }
        #expect(relayed.egress[0].isInsideFrame)
        world.camera.restart(at: world.now, videoSequence: 9_000, pause: .seconds(1))
        world.run(.seconds(4))
        #expect(viewer.brokenFrames == 0)
        #expect(!viewer.hasContinuousSequence, "the gap shows that the rest of the frame is missing")
        #expect(viewer.pictures.first?.isKeyFrame == true && viewer.pictures.count > 30)
    }

    @Test func anUnreachableDestinationDisturbsNobody() throws {
        let world = try RelayWorld()
        world.run(.seconds(1))
        let good = try world.addViewer(1)
        let bad = try world.addViewer(2)
        let better = try world.addViewer(3)
        #expect(world.connect(good) && world.connect(bad) && world.connect(better))
        world.run(.seconds(1))
        let address = bad.addresses[0]
        world.host.outbox.isRefused = { $0 == address }
        world.run(.seconds(32))
        for viewer in [good, better] {
            #expect(viewer.missingPictures == 0 && viewer.hasContinuousSequence)
            #expect(viewer.pictures.count > 490)
        }
        #expect(world.shard.readCounters().datagramsRefused > 1_000)
        // Nothing reaches it, so it is released when its consent has expired.
        #expect(world.shard.viewer(named: bad.name) == nil)
        #expect(world.shard.viewers.count == 2)
    }
}
