import Congestion
import NetworkSimulator
import PeerFakes
import RTP
import SDP
import Testing
import Transport

@testable import MediaRelay

/// A camera with two streams, and a line that carries only the smaller one for a while.
@Suite struct StreamChoosingTests {
    private static func makeWorld(shards: Int = 1, answersRequests: Bool = true) throws -> RelayWorld {
        try RelayWorld(seed: 21, shards: shards) {
            $0.frameSize = 16_500
            $0.keyFrameSize = 60_000
            $0.substream = (3_000, 14_000)
            $0.answersRequests = answersRequests
        }
    }

    /// Runs for some time, and does what signalling does when the relay wishes for another stream.
    func run(_ world: RelayWorld, _ viewer: SimulatedViewer, _ duration: Duration) throws -> [Instant] {
        let end = world.now + duration
        var switches: [Instant] = []
        while world.now < end {
            world.run(.milliseconds(20))
            for wish in viewer.notices.takeWishes() {
                let (main, sub) = (world.camera.video, world.camera.subvideo)
                let shard = try world.shard(of: viewer)
                let track = try #require(shard.tracks[wish == .smaller ? sub : main])
                shard.move(
                    try world.relayed(viewer), from: wish == .smaller ? main : sub, to: track,
                    as: wish == .smaller ? .smaller : .larger, at: world.now)
                world.host.settle()
                switches.append(world.now)
            }
        }
        return switches
    }

    private func hasMainStream(_ world: RelayWorld, _ viewer: SimulatedViewer) throws -> Bool {
        try world.relayed(viewer).egress[0].track.id == world.camera.video
    }

    /// A line, and where and how the camera is relayed.
    struct Shape {
        /// How long the line's queue is, in milliseconds; nil for none.
        var queue: Int64?
        /// The viewer is on the camera's own shard with one shard, and on another with two.
        var shards: Int
        /// Whether the camera makes key frames on request.
        var answersRequests: Bool
    }

    @Test(arguments: [
        Shape(queue: nil, shards: 1, answersRequests: true), Shape(queue: 50, shards: 2, answersRequests: true),
        Shape(queue: 200, shards: 1, answersRequests: true), Shape(queue: 400, shards: 2, answersRequests: true),
        Shape(queue: nil, shards: 2, answersRequests: false), Shape(queue: 200, shards: 2, answersRequests: false),
    ])
    func theViewerGetsTheSmallerStreamAndLaterTheLargerOneAgain(shape: Shape) throws {
        let world = try Self.makeWorld(shards: shape.shards, answersRequests: shape.answersRequests)
        let home = ShardMark.home(of: "door", of: shape.shards)
        let other = (home + 1) % shape.shards
        world.run(.seconds(2))
        let viewer = try world.addViewer(1, onShard: other) {
            $0.transportFeedback = .milliseconds(100)
            $0.patience = .milliseconds(1_500)
            $0.nacks = NackGenerator.Configuration(maximumAge: .milliseconds(1_200), maximumRequests: 10)
            $0.assumedRoundTrip = .milliseconds(80)
        }
        #expect(world.connect(viewer))
        #expect(try run(world, viewer, .seconds(4)).isEmpty)
        LimitedLineTests.limit(world, viewer, to: LimitedLineTests.rate, queue: shape.queue)
        let limited = world.now
        _ = try run(world, viewer, .seconds(3))
        #expect(try !hasMainStream(world, viewer))
        #expect(try world.relayed(viewer).choice.larger != nil)
        // From three seconds after the limit on, next to every picture comes, and soon.
        let first = viewer.pictures.count
        let begin = world.now
        #expect(try run(world, viewer, .seconds(20)).isEmpty, "the line does not carry the main stream")
        let made = world.camera.pictureTimes.count { $0 > begin && $0 < world.now - .milliseconds(300) }
        #expect(
            Double(viewer.pictures.count - first) >= Double(made) * 0.99, "\(viewer.pictures.count - first) \(made)")
        let ages = viewer.pictures[first...].map { ($0.at - world.camera.pictureTimes[$0.number]).inSeconds }
        #expect(ages.reduce(0, +) / Double(ages.count) < 0.15, "\(ages.max() ?? 0)")
        LimitedLineTests.limit(world, viewer, to: nil)
        let lifted = world.now
        while try !hasMainStream(world, viewer), world.now - lifted < .seconds(12) {
            _ = try run(world, viewer, .milliseconds(100))
        }
        #expect(world.now - lifted < .seconds(10), "\(world.now - lifted)")
        let returned = viewer.pictures.count
        #expect(try run(world, viewer, .seconds(20)).isEmpty, "it stays there")
        let later = viewer.pictures[returned...]
        #expect(later.count >= 298, "\(later.count)")
        #expect(viewer.brokenFrames == 0 && world.host.outbox.keyStreamReuses == 0)
        let counters = world.counters
        #expect(counters.streamSwitches == StreamSwitches(smaller: 1, larger: 1))
        #expect(counters.viewersByStream == [.main: 1] && counters.viewersLimited == 0)
        // The pictures never stand still for long, and never go back.
        let shown = viewer.pictures.filter { $0.at > limited + .seconds(3) }
        for (one, next) in zip(shown, shown.dropFirst()) {
            #expect(next.at - one.at < .milliseconds(700), "\(one.number) \(next.number)")
            #expect(Int32(bitPattern: next.timestamp &- one.timestamp) > 0)
        }
    }

    /// On another shard, the ring of the larger stream comes with everything since its newest key frame. None of it is sent.
    @Test func theWayUpBeginsWithANewKeyFrame() throws {
        let world = try Self.makeWorld(shards: 2)
        let other = (ShardMark.home(of: "door", of: 2) + 1) % 2
        world.run(.seconds(6))
        let viewer = try world.addViewer(1, onShard: other)
        #expect(world.connect(viewer))
        world.run(.seconds(1))
        let (shard, relayed) = (try world.shard(of: viewer), try world.relayed(viewer))
        let tracks = (
            main: try #require(shard.tracks[world.camera.video]), sub: try #require(shard.tracks[world.camera.subvideo])
        )
        shard.move(relayed, from: tracks.main.id, to: tracks.sub, at: world.now)
        world.run(.seconds(3))
        #expect(relayed.egress[0].track === tracks.sub)
        let asked = world.camera.requests.count
        let (before, begin) = (relayed.wire.bytes, world.now)
        shard.move(relayed, from: tracks.sub.id, to: tracks.main, as: .larger, at: world.now)
        world.run(.milliseconds(300))
        #expect(relayed.egress[0].track === tracks.main && world.camera.requests.count == asked + 1)
        // A key frame and a few frames, instead of three seconds of them.
        #expect(relayed.wire.bytes - before < 160_000, "\(relayed.wire.bytes - before)")
        world.run(.seconds(1))
        let pictures = viewer.pictures.filter { $0.at > begin }
        let numbers = pictures.map(\.number)
        #expect(numbers.count >= 18 && zip(numbers, numbers.dropFirst()).allSatisfy { 0...1 ~= $1 - $0 }, "\(numbers)")
        #expect(viewer.brokenFrames == 0)
    }

    /// What somebody has chosen is not taken back.
    @Test func aStreamThatWasChosenIsNotLeftForALargerOne() throws {
        let world = try Self.makeWorld()
        world.run(.seconds(2))
        let viewer = try world.addViewer { $0.transportFeedback = .milliseconds(100) }
        #expect(world.connect(viewer))
        world.run(.seconds(2))
        let relayed = try world.relayed(viewer)
        let sub = try #require(world.shard.tracks[world.camera.subvideo])
        world.shard.move(relayed, from: world.camera.video, to: sub, at: world.now)
        let before = relayed.wire.bytes
        #expect(try run(world, viewer, .seconds(20)).isEmpty)
        #expect(relayed.line.nextProbe == nil && relayed.wire.bytes - before < 20 * 60_000)
    }

    /// Somebody chooses the stream that the path had chosen before: probing for the larger one ends.
    @Test func choosingTheSameStreamEndsTheProbes() throws {
        let world = try Self.makeWorld()
        world.run(.seconds(2))
        let viewer = try world.addViewer { $0.transportFeedback = .milliseconds(100) }
        #expect(world.connect(viewer))
        world.run(.seconds(2))
        let (relayed, id) = (try world.relayed(viewer), world.camera.subvideo)
        let sub = try #require(world.shard.tracks[id])
        world.shard.move(relayed, from: world.camera.video, to: sub, as: .smaller, at: world.now)
        world.run(.seconds(4))
        #expect(relayed.egress[0].track === sub && relayed.line.nextProbe != nil)
        world.shard.move(relayed, from: id, to: sub, as: .chosen, at: world.now)
        #expect(try run(world, viewer, .seconds(20)).isEmpty)
        #expect(relayed.egress[0].track === sub && relayed.line.nextProbe == nil)
    }

    @Test func tenViewersBehindOneLineGetFairShares() throws {
        let world = try RelayWorld(seed: 5) {
            $0.frameSize = 16_500
            $0.keyFrameSize = 60_000
            $0.answersRequests = false
        }
        world.run(.seconds(2))
        // All of them are behind one address, and the line belongs to all.
        let viewers = try (1...10).map { number in
            let viewer = try world.addViewer(number) {
                $0.transportFeedback = .milliseconds(100)
                $0.patience = .milliseconds(1_500)
                $0.nacks = NackGenerator.Configuration(maximumAge: .milliseconds(1_200), maximumRequests: 10)
            }
            #expect(world.connect(viewer))
            return viewer
        }
        world.run(.seconds(3))
        var line = LinkConditions(latency: .milliseconds(10))
        line.bitsPerSecond = 13_200_000
        line.queueLimit = .milliseconds(200)
        line.sharesLine = true
        world.simulation.network.setConditions(line, from: world.host.addresses[0])
        world.run(.seconds(10))
        let relayed = try viewers.map { try world.relayed($0) }
        let before = relayed.map(\.wire.bytes)
        world.run(.seconds(20))
        let rates = zip(relayed, before).map { Double($0.wire.bytes - $1) * 8 / 20 }
        let sum = rates.reduce(0, +)
        let fairness = sum * sum / (10 * rates.reduce(0) { $0 + $1 * $1 })
        #expect(fairness > 0.9, "\(rates.map { Int($0 / 1_000) })")
        #expect(sum < 13_200_000 * 1.1 && sum > 13_200_000 * 0.7, "\(sum)")
    }
}
