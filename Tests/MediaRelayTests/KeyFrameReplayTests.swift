import NetworkSimulator
import PeerFakes
import RTP
import Testing
import Transport

@testable import MediaRelay

/// A viewer that cannot decode asks for a key frame, and the camera makes none on request.
@Suite struct KeyFrameReplayTests {
    private func playing(
        shards: Int = 1, answersRequests: Bool = false
    ) throws -> (world: RelayWorld, viewer: SimulatedViewer) {
        let world = try RelayWorld(shards: shards) { $0.answersRequests = answersRequests }
        world.run(.milliseconds(8_500))
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(1))
        return (world, viewer)
    }

    private func replays(_ world: RelayWorld, _ viewer: SimulatedViewer) throws -> UInt64 {
        try world.relayed(viewer).readStatistics().keyFramesReplayed
    }

    @Test(arguments: 1...3) func itGetsTheNewestOneAgainAndEverythingAfterIt(_ shards: Int) throws {
        let (world, viewer) = try playing(shards: shards)
        let keyFrame = try #require(world.camera.keyFrames.last)
        let asked = (at: world.now, shown: viewer.pictures.count)
        viewer.askForKeyFrame()
        world.run(.milliseconds(600))
        let live = try #require(viewer.numbers.last)
        let again = viewer.pictures[asked.shown...].drop { $0.number != keyFrame }
        #expect(again.map(\.number) == Array(keyFrame...live))
        #expect(again.first?.isKeyFrame == true)
        // A player takes all of it for new.
        #expect(viewer.hasContinuousSequence && viewer.brokenFrames == 0 && viewer.counters.droppedFrames == 0)
        for (one, next) in zip(viewer.pictures, viewer.pictures.dropFirst()) {
            #expect(Int32(bitPattern: next.timestamp &- one.timestamp) > 0)
        }
        // It shows the end of it at once, and is at the live edge again.
        let edge = try #require(again.first { $0.at - asked.at > .milliseconds(400) })
        #expect(edge.at - world.camera.pictureTimes[edge.number] < .milliseconds(16))
        #expect(try replays(world, viewer) == 1)
    }

    @Test func itGetsEachKeyFrameASecondTimeAtMost() throws {
        let (world, viewer) = try playing()
        let keyFrame = try #require(world.camera.keyFrames.last)
        for _ in 0..<10 {
            viewer.askForKeyFrame()
            world.run(.milliseconds(200))
        }
        #expect(world.camera.keyFrames.last == keyFrame)
        #expect(viewer.numbers.count { $0 == keyFrame } == 2)
        #expect(try replays(world, viewer) == 1)
        world.run(.seconds(2))
        let next = try #require(world.camera.keyFrames.last)
        #expect(next != keyFrame)
        viewer.askForKeyFrame()
        world.run(.milliseconds(600))
        #expect(viewer.numbers.count { $0 == next } == 2)
        #expect(try replays(world, viewer) == 2)
    }

    @Test func aCameraThatMakesOneIsFaster() throws {
        let (world, viewer) = try playing(answersRequests: true)
        let before = world.camera.keyFrames.count
        viewer.askForKeyFrame()
        world.run(.seconds(1))
        #expect(world.camera.keyFrames.count == before + 1)
        #expect(try replays(world, viewer) == 0)
        #expect(Set(viewer.numbers).count == viewer.numbers.count)
    }

    /// A browser that is connected may lose what comes before its player is ready, and cannot ask for packets of which it
    /// knows nothing.
    @Test(arguments: 1...3) func aPlayerThatLosesTheBeginningDoesNotWaitForTheNextKeyFrame(_ shards: Int) throws {
        let world = try RelayWorld(shards: shards) { $0.answersRequests = false }
        world.run(.milliseconds(8_500))
        let viewer = try world.addViewer()
        viewer.isDeaf = true
        #expect(world.connect(viewer))
        world.run(.milliseconds(100))
        viewer.isDeaf = false
        let ready = world.now
        world.run(.seconds(1))
        let first = try #require(viewer.pictures.first)
        #expect(first.number == world.camera.keyFrames.last)
        // It asks once it has waited for the packets before those that come; the next key frame would come three seconds later.
        #expect(first.at - ready < .seconds(1))
        #expect(viewer.brokenFrames == 0)
    }

    @Test func aLineThatCarriesTooLittleGetsNothingASecondTime() throws {
        let world = try LimitedLineTests.makeWorld()
        let (viewer, relayed) = try LimitedLineTests.addViewer(to: world)
        LimitedLineTests.limit(world, viewer, to: LimitedLineTests.rate, queue: 200)
        world.run(.seconds(6))
        #expect(relayed.line.isLimited)
        let before = relayed.readStatistics().keyFramesReplayed
        for _ in 0..<20 {
            viewer.askForKeyFrame()
            world.run(.milliseconds(100))
        }
        #expect(relayed.line.isLimited)
        #expect(relayed.readStatistics().keyFramesReplayed == before)
    }

    /// Its packets come again one by one. A second copy of everything would make a congested path lose more.
    @Test func aLossyPathGetsNothingASecondTime() throws {
        let (world, viewer) = try playing()
        var line = LinkConditions(latency: .milliseconds(10))
        line.loss = 0.1
        world.simulation.network.setConditions(line, from: world.host.addresses[0], to: viewer.addresses[0])
        world.run(.seconds(2))
        for _ in 0..<20 {
            viewer.askForKeyFrame()
            world.run(.milliseconds(100))
        }
        #expect(try replays(world, viewer) == 0)
        // Once it loses nothing any more, a request counts again.
        world.simulation.network.setConditions(
            LinkConditions(latency: .milliseconds(10)), from: world.host.addresses[0], to: viewer.addresses[0])
        world.run(.seconds(6))
        viewer.askForKeyFrame()
        world.run(.milliseconds(600))
        #expect(try replays(world, viewer) == 1)
    }
}
