import Congestion
import NetworkSimulator
import PeerFakes
import RTP
import Testing
import Transport

@testable import MediaRelay

/// A line that carries only the smaller stream of a camera whose key frames are far apart, and which makes none on request.
@Suite struct DistantKeyFrameTests {
    /// The camera, and when the line becomes slow.
    struct Shape {
        /// The frames from one key frame to the next: 15 are a second.
        var interval: Int
        /// When the line becomes slow, in seconds from a key frame on.
        var age: Double
        /// The size of the smaller stream's frames.
        var frameSize: Int
        /// How long the line's queue is, in milliseconds; nil for none.
        var queue: Int64?
    }

    private static func makeWorld(_ shape: Shape) throws -> RelayWorld {
        try RelayWorld(seed: 21) {
            $0.frameSize = 16_500
            $0.keyFrameSize = 60_000
            $0.keyFrameInterval = shape.interval
            $0.substream = (shape.frameSize, 14_000)
            $0.answersRequests = false
        }
    }

    private static func addViewer(to world: RelayWorld) throws -> SimulatedViewer {
        let viewer = try world.addViewer {
            $0.transportFeedback = .milliseconds(100)
            $0.patience = .milliseconds(1_500)
            $0.nacks = NackGenerator.Configuration(maximumAge: .milliseconds(1_200), maximumRequests: 10)
            $0.assumedRoundTrip = .milliseconds(80)
        }
        #expect(world.connect(viewer))
        return viewer
    }

    private static let shapes: [Shape] = [6.1, 7.5, 9.1].flatMap { age in
        [3_000, 5_500].flatMap { size in
            [nil, 50, 200, 400].map { Shape(interval: 172, age: age, frameSize: size, queue: $0) }
        }
    }

    /// Lets the line become slow, and expects that the picture goes on and reaches the live edge with the smaller stream.
    private func expectNoFreeze(_ shape: Shape, longest: Duration = .seconds(2)) throws {
        let world = try Self.makeWorld(shape)
        world.run(.seconds(2))
        let viewer = try Self.addViewer(to: world)
        world.run(RelayWorld.start + .seconds(shape.age) - world.now)
        LimitedLineTests.limit(world, viewer, to: LimitedLineTests.rate, queue: shape.queue)
        let limited = world.now
        _ = try StreamChoosingTests().run(world, viewer, .seconds(30))
        // The player gives a packet up after 1.5 seconds.
        let shown = viewer.pictures.filter { $0.at > limited }
        for (one, next) in zip(shown, shown.dropFirst()) {
            #expect(next.at - one.at < longest, "\((one.at - limited).inSeconds) \((next.at - one.at).inSeconds)")
        }
        let last = try #require(shown.last)
        #expect(world.now - last.at < .milliseconds(700))
        #expect(last.at - world.camera.pictureTimes[last.number] < .milliseconds(700))
        #expect(try world.relayed(viewer).egress[0].track.id == world.camera.subvideo)
        #expect(viewer.brokenFrames == 0)
    }

    @Test(arguments: shapes) func theMoveToTheSmallerStreamDoesNotFreezeThePicture(shape: Shape) throws {
        try expectNoFreeze(shape)
    }

    /// The ring has no key frame to begin with any more, and still holds what a viewer waits for that is seconds late.
    @Test(arguments: [6.3, 9.1]) func keyFramesThatTheRingCannotHoldFreezeNothingEither(age: Double) throws {
        try expectNoFreeze(Shape(interval: 300, age: age, frameSize: 3_000, queue: 200), longest: .seconds(3))
    }

    /// The line carries everything again before the smaller stream has a key frame.
    @Test func aMoveDownThatIsNoLongerNeededIsTakenBack() throws {
        let world = try Self.makeWorld(Shape(interval: 300, age: 6.3, frameSize: 3_000, queue: 200))
        world.run(.seconds(2))
        let viewer = try Self.addViewer(to: world)
        world.run(.seconds(4))
        let (runner, relayed) = (StreamChoosingTests(), try world.relayed(viewer))
        LimitedLineTests.limit(world, viewer, to: LimitedLineTests.rate, queue: 200)
        _ = try runner.run(world, viewer, .milliseconds(1_500))
        #expect(relayed.egress[0].nextTrack?.id == world.camera.subvideo)
        LimitedLineTests.limit(world, viewer, to: nil)
        _ = try runner.run(world, viewer, .seconds(10))
        #expect(!relayed.line.isLimited && relayed.egress[0].nextTrack == nil)
        let first = viewer.pictures.count
        _ = try runner.run(world, viewer, .seconds(10))
        #expect(relayed.egress[0].track.id == world.camera.video)
        #expect(world.counters.streamSwitches == StreamSwitches(smaller: 0, larger: 0))
        #expect(viewer.pictures.count - first >= 148)
    }

    /// The line becomes slow again, slower than the smaller stream, before the larger one has a key frame.
    @Test func aMoveUpThatThePathDoesNotCarryAnyMoreIsTakenBack() throws {
        let world = try Self.makeWorld(Shape(interval: 300, age: 6.3, frameSize: 3_000, queue: 200))
        world.run(.seconds(2))
        let viewer = try Self.addViewer(to: world)
        world.run(.seconds(1))
        let (runner, relayed) = (StreamChoosingTests(), try world.relayed(viewer))
        LimitedLineTests.limit(world, viewer, to: LimitedLineTests.rate, queue: 200)
        _ = try runner.run(world, viewer, .seconds(4))
        #expect(relayed.egress[0].track.id == world.camera.subvideo)
        LimitedLineTests.limit(world, viewer, to: nil)
        while relayed.egress[0].nextTrack == nil, world.now - RelayWorld.start < .seconds(16) {
            _ = try runner.run(world, viewer, .milliseconds(100))
        }
        #expect(relayed.egress[0].nextTrack?.id == world.camera.video)
        LimitedLineTests.limit(world, viewer, to: 250_000, queue: 200)
        _ = try runner.run(world, viewer, .seconds(3))
        #expect(relayed.line.isLimited && relayed.egress[0].nextTrack == nil)
        // The larger stream's key frame comes meanwhile.
        _ = try runner.run(world, viewer, RelayWorld.start + .seconds(25) - world.now)
        #expect(relayed.egress[0].track.id == world.camera.subvideo)
        #expect(world.counters.streamSwitches == StreamSwitches(smaller: 1, larger: 0))
        // When there is room again, it gets the larger stream after all.
        LimitedLineTests.limit(world, viewer, to: nil)
        _ = try runner.run(world, viewer, .seconds(30))
        #expect(relayed.egress[0].track.id == world.camera.video)
    }
}
