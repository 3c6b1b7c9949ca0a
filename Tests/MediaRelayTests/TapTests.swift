import RTP
import SDP
import Testing
import Transport

@testable import MediaRelay

@Suite struct TapTests {
    @Test func aTapBeginsWithTheNewestKeyFrameAndMissesNothing() throws {
        let world = try RelayWorld()
        world.run(.milliseconds(7_300))
        let tap = RecordingTap()
        let track = try #require(world.shard.tracks[world.camera.video])
        track.addTap(tap)
        let first = try #require(tap.batches.first)
        #expect(first.batch.packets[first.firstPacket].flags.contains([.keyFrame, .startsFrame]))
        #expect(tap.batches.count > 40)
        world.run(.seconds(3))
        let sequences = tap.sequences
        #expect(sequences.count > 300)
        #expect(sequences == Array(sequences[0]..<(sequences[0] + Int64(sequences.count))))
    }

    @Test func aTapBeginsWithWhatWasHandedInJustBeforeIt() throws {
        let world = try RelayWorld()
        world.camera.isRunning = false
        let id = TrackID(camera: "yard", index: 0)
        let inlet = TrackInlet(lists: [world.shard.ready])
        let requests = KeyFrameRequests()
        let description = RelayTrackDescription(isVideo: true, codec: .vp8, requestKeyFrame: { requests.ask() })
        world.shard.setTracks([(id, description, inlet)], camera: id.camera, at: world.now)
        var maker = FrameMaker(sequenceNumber: 1)
        inlet.deliver(maker.next(isKeyFrame: true, at: world.now))
        let tap = RecordingTap()
        world.shard.addTap(tap, to: id, at: world.now)
        #expect(tap.batches.count == 1)
        #expect(requests.count == 0)
    }

    @Test func aTapThatComesBeforeTheFirstKeyFrameWaitsForIt() throws {
        let world = try RelayWorld { $0.keyFrameInterval = 60 }
        world.run(.milliseconds(500))
        let track = try #require(world.shard.tracks[world.camera.video])
        track.recordRestart()
        let tap = RecordingTap()
        track.addTap(tap)
        #expect(tap.batches.isEmpty)
        world.run(.seconds(5))
        let first = try #require(tap.batches.first)
        #expect(first.batch.packets[first.firstPacket].flags.contains([.keyFrame, .startsFrame]))
    }

    @Test func aTapThatFindsNoKeyFrameRequestsOne() throws {
        let world = try RelayWorld { $0.keyFrameInterval = nil }
        world.run(.seconds(15))
        let track = try #require(world.shard.tracks[world.camera.video])
        #expect(track.ring.newestKeyFrame == nil)
        let tap = RecordingTap()
        track.addTap(tap)
        world.run(.seconds(1))
        #expect(world.camera.requests.count == 1)
        let first = try #require(tap.batches.first)
        #expect(first.batch.packets[first.firstPacket].flags.contains([.keyFrame, .startsFrame]))
    }

    @Test func aTapOfSoundStartsLive() throws {
        let world = try RelayWorld()
        world.run(.seconds(1))
        let tap = RecordingTap()
        try #require(world.shard.tracks[world.camera.audio]).addTap(tap)
        #expect(tap.batches.isEmpty)
        world.run(.seconds(1))
        #expect((49...51).contains(tap.batches.count))
    }

    /// The request for a tap is handled a moment after it was made.
    @Test func aTapOfSoundMissesNothingWhileItsRequestIsOnTheWay() throws {
        let world = try RelayWorld()
        world.camera.isRunning = false
        let id = TrackID(camera: "yard", index: 0)
        let inlet = TrackInlet(lists: [world.shard.ready])
        let description = RelayTrackDescription(isVideo: false, codec: .opus, requestKeyFrame: {})
        world.shard.setTracks([(id, description, inlet)], camera: id.camera, at: world.now)
        var maker = FrameMaker(sequenceNumber: 1)
        inlet.deliver(maker.next(isKeyFrame: false, at: world.now))
        let tap = RecordingTap()
        world.shard.addTap(tap, to: id, at: world.now)
        world.shard.handleInlets(at: world.now)
        #expect(tap.batches.count == 1)
    }

    @Test func aTapLearnsOfARestartAndOfTheEnd() throws {
        let world = try RelayWorld()
        world.run(.seconds(1))
        let tap = RecordingTap()
        let track = try #require(world.shard.tracks[world.camera.video])
        track.addTap(tap)
        track.recordRestart()
        #expect(tap.state.withLock { $0.restarts } == 1)
        world.shard.removeCamera(world.camera.video.camera, at: world.now)
        #expect(tap.state.withLock { $0.hasEnded })
    }

    @Test func aRemovedTapGetsNothingMore() throws {
        let world = try RelayWorld()
        world.run(.seconds(1))
        let tap = RecordingTap()
        let track = try #require(world.shard.tracks[world.camera.video])
        track.addTap(tap)
        let count = tap.batches.count
        track.removeTap(tap)
        world.run(.seconds(1))
        #expect(tap.batches.count == count)
    }
}
