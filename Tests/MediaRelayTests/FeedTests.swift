import RTP
import SDP
import Testing
import Transport

@testable import MediaRelay

/// A camera's tracks have a home shard. The others get them while they have viewers.
@Suite struct FeedTests {
    private func inlet(_ world: RelayWorld) throws -> TrackInlet {
        try #require(world.home.tracks[world.camera.video]?.inlet)
    }

    @Test func aShardIsFedWhileItHasViewers() throws {
        let world = try RelayWorld(shards: 3)
        let (home, other) = (world.home.index, (world.home.index + 1) % 3)
        #expect(try inlet(world).openFeeds == 1 << home)
        let first = try world.addViewer(1, onShard: other)
        let second = try world.addViewer(2, onShard: other)
        let third = try world.addViewer(3, onShard: home)
        #expect([first, second, third].allSatisfy(world.connect))
        #expect(try inlet(world).openFeeds == 1 << home | 1 << other)
        world.run(.seconds(1))
        let asked = world.shards[3 - home - other].readCounters().inletsAsked
        #expect(asked == 0, "the shard without viewers is left alone")
        for viewer in [first, third] {
            try world.shard(of: viewer).dismiss(try world.relayed(viewer), because: .removed, at: world.now)
        }
        world.run(.seconds(1))
        #expect(try inlet(world).openFeeds == 1 << home | 1 << other)
        #expect(second.missingPictures == 0 && second.hasContinuousSequence)
        try world.shard(of: second).dismiss(try world.relayed(second), because: .removed, at: world.now)
        world.run(.seconds(1))
        #expect(try inlet(world).openFeeds == 1 << home)
        #expect(world.home.feeds.isEmpty)
        #expect(world.shards[other].tracks[world.camera.video]?.ring.footprint == 0)
        #expect(world.shards[other].nextDeadline == nil)
    }

    @Test func aViewerElsewhereStartsWithTheNewestKeyFrameWithoutAsking() throws {
        let world = try RelayWorld(shards: 2)
        world.run(.milliseconds(5_500))
        let keyFrame = try #require(world.camera.keyFrames.last)
        let viewer = try world.addViewer(1, onShard: 1 - world.home.index)
        #expect(world.connect(viewer))
        world.run(.milliseconds(500))
        #expect(viewer.hasEveryPicture(from: keyFrame))
        #expect(viewer.pictures.count > 20 && viewer.hasContinuousSequence)
        #expect(world.camera.requests.count == 0)
        // The batches are shared between the shards.
        let rings = try world.shards.map { try #require($0.tracks[world.camera.video]?.ring) }
        let batches = rings.map { ring in (ring.first..<ring.end).compactMap { ring[$0]?.batch } }
        #expect(zip(batches[0].reversed(), batches[1].reversed()).allSatisfy { $0 === $1 })
        #expect(world.counters.ringBytes == world.home.readCounters().ringBytes)
    }

    @Test func theSourceIsAskedOnceForAKeyFrameForAllShards() throws {
        var limits = RelayLimits()
        limits.ringDuration = .seconds(2)
        let world = try RelayWorld(limits: limits, shards: 3) { $0.keyFrameInterval = nil }
        world.run(.seconds(10))
        let viewers = try (0..<6).map { try world.addViewer($0 + 1, onShard: $0 % 3) }
        world.run(.seconds(4))
        #expect(world.camera.requests.count == 1)
        let keyFrame = try #require(world.camera.keyFrames.last)
        for viewer in viewers { #expect(viewer.hasEveryPicture(from: keyFrame)) }
    }

    /// Everything that concerns a track is under way at once, and the shards work in any order.
    @Test(arguments: 1...30) func restartsAndComingAndGoingInAnyOrderLoseNothing(_ seed: UInt64) throws {
        let world = try RelayWorld(seed: seed, shards: 3)
        let other = (world.home.index + 1) % 3
        world.run(.seconds(1))
        let stays = try world.addViewer(1, onShard: other)
        #expect(world.connect(stays))
        let third = 3 - world.home.index - other
        world.run(.seconds(1))
        for round in 0..<4 as Range<UInt16> {
            let viewer = try world.addViewer(Int(round) + 2, onShard: third)
            let now = world.now
            if round % 2 == 0 {
                world.camera.restart(at: now, videoSequence: round &* 999, pause: .milliseconds(40))
            } else {
                world.host.relay.clearTracks(of: "door")
            }
            // Another one comes and goes before anybody has been asked.
            let guest = try world.addViewer(Int(round) + 20, onShard: third)
            world.shards[third].end(try world.relayed(guest), because: .removed)
            #expect(world.connect(viewer), "round \(round)")
            world.run(.milliseconds(1_500))
            #expect(viewer.pictures.count > 15 && viewer.missingPictures == 0, "round \(round)")
            #expect(viewer.hasContinuousSequence && viewer.brokenFrames == 0)
            world.shards[third].end(try world.relayed(viewer), because: .removed)
            world.run(.milliseconds(Int64(round) * 7))
        }
        // Emptied rings cost it pictures, and nothing else does.
        #expect(stays.pictures.count > 60 && stays.hasContinuousSequence && stays.brokenFrames == 0)
        #expect(world.host.outbox.keyStreamReuses == 0)
        #expect(world.home.feeds.allSatisfy { Array($0.value.keys) == [other] })
    }

    /// The shards hear of the restart one after the other, and only the home knows the source.
    @Test(arguments: 1...10) func theNewSourceIsAskedForTheKeyFrameThatOtherShardsNeed(_ seed: UInt64) throws {
        let world = try RelayWorld(seed: seed, shards: 3)
        let viewer = try world.addViewer(1, onShard: (world.home.index + 1) % 3)
        #expect(world.connect(viewer))
        world.run(.seconds(2))
        let requests = KeyFrameRequests()
        _ = world.host.relay.setTracks(
            camera: "door",
            [
                RelayTrackDescription(isVideo: true, codec: .vp8, requestKeyFrame: { requests.ask() }),
                RelayTrackDescription(isVideo: false, codec: .opus, requestKeyFrame: {}),
            ])
        world.host.settle()
        #expect(requests.count == 1)
        world.camera.isRunning = false
        world.run(.seconds(3))
        #expect(requests.count == 1, "no other request was kept")
        #expect(world.camera.requests.count == 0)
    }

    /// The ring of before must not come after the restart.
    @Test func aRingThatWasOnTheWayDuringARestartIsNotShown() throws {
        let world = try RelayWorld(shards: 2)
        world.run(.seconds(2))
        let (home, other) = (world.home.index, 1 - world.home.index)
        let viewer = try world.addViewer(1, onShard: other)
        // The home answers before it hears of the restart.
        world.host.takeTurn(home)
        world.camera.restart(at: world.now, videoSequence: 7, pause: .seconds(1))
        let track = try #require(world.shards[other].tracks[world.camera.video])
        #expect(track.isFed && track.ring.newestKeyFrame == nil)
        #expect(world.connect(viewer))
        world.run(.seconds(2))
        #expect(viewer.pictures.count > 10 && viewer.pictures.first?.isKeyFrame == true)
        #expect(viewer.hasContinuousSequence && viewer.missingPictures == 0)
    }

    @Test func aRemovedCameraLeavesNothingBehind() throws {
        let world = try RelayWorld(shards: 3)
        let viewers = try (1...6).map { try world.addViewer($0) }
        #expect(viewers.allSatisfy(world.connect))
        world.run(.seconds(1))
        world.camera.isRunning = false
        world.host.relay.removeCamera("door")
        world.run(.seconds(1))
        #expect(viewers.allSatisfy { $0.goodbyes.count == 2 })
        for shard in world.shards {
            #expect(shard.viewers.isEmpty && shard.tracks.isEmpty && shard.tracksByInlet.isEmpty)
            #expect(shard.tracksByHandle.isEmpty && shard.feeds.isEmpty && shard.wallClocks.isEmpty)
            #expect(shard.holders.isEmpty && shard.byAddress.isEmpty && shard.byFragment.isEmpty)
            #expect(shard.nextDeadline == nil)
        }
    }

    @Test func soundThatGoesAndReturnsIsFedAgain() throws {
        let world = try RelayWorld(shards: 2)
        let other = 1 - world.home.index
        let viewer = try world.addViewer(1, onShard: other)
        #expect(world.connect(viewer))
        world.run(.seconds(2))
        world.camera.shape.hasSound = false
        world.camera.restart(at: world.now, videoSequence: 9, pause: .milliseconds(100))
        world.run(.seconds(2))
        #expect(world.home.feeds[world.camera.audio] == nil)
        let before = viewer.sounds.count
        world.camera.shape.hasSound = true
        world.camera.restart(at: world.now, videoSequence: 900, pause: .milliseconds(100))
        world.run(.seconds(2))
        #expect(viewer.sounds.count > before + 80)
        #expect(viewer.missingPictures == 0)
        #expect(world.home.feeds[world.camera.audio]?.count == 1)
    }

    @Test func aViewerElsewhereMovesToTheOtherStreamAtItsKeyFrame() throws {
        let world = try RelayWorld(shards: 2)
        let other = 1 - world.home.index
        let viewer = try world.addViewer(1, onShard: other)
        #expect(world.connect(viewer))
        world.run(.seconds(2))
        let sub = TrackID(camera: "door", stream: .sub, index: 0)
        let requests = KeyFrameRequests()
        let descriptions = [world.camera.video, world.camera.audio].map { id in
            var description = RelayTrackDescription(
                isVideo: id == world.camera.video, codec: id == world.camera.video ? .vp8 : .opus, requestKeyFrame: {})
            description.continuing = world.home.tracks[id]?.inlet
            return (id: id, description: description)
        }
        let added = RelayTrackDescription(isVideo: true, codec: .vp8, requestKeyFrame: { requests.ask() })
        let inlets = world.host.relay.setTracks(camera: "door", descriptions + [(id: sub, description: added)])
        world.host.settle()
        #expect(viewer.missingPictures == 0 && world.viewers.count == 1)
        let relayed = try world.relayed(viewer)
        let left = Locked(0)
        world.shards[other].move(
            relayed, from: world.camera.video, to: try #require(world.shards[other].tracks[sub]), at: world.now
        ) { left.withLock { $0 += 1 } }
        world.run(.milliseconds(100))
        #expect(requests.count == 1 && left.withLock { $0 } == 0)
        #expect(relayed.egress[0].track.id == world.camera.video, "until there is a key frame")
        var maker = FrameMaker(sequenceNumber: 40_000, timestamp: 777, ticksPerFrame: 3_000)
        inlets[2].deliver(maker.next(isKeyFrame: true, at: world.now))
        world.run(.milliseconds(100))
        #expect(relayed.egress[0].track.id == sub && left.withLock { $0 } == 1)
        #expect(viewer.hasContinuousSequence && world.host.outbox.keyStreamReuses == 0)
        // The main stream is no longer fed here.
        #expect(world.home.feeds[world.camera.video] == nil && world.home.feeds[sub]?.count == 1)
    }

    @Test func theClocksOfAllShardsAgree() throws {
        let world = try RelayWorld(shards: 3)
        world.camera.startReports(at: world.now)
        let early = try world.addViewer(1, onShard: 1)
        #expect(world.connect(early))
        world.run(.seconds(3))
        let late = try world.addViewer(2, onShard: 2)
        #expect(world.connect(late))
        world.run(.milliseconds(2_500))
        for id in [world.camera.video, world.camera.audio] {
            let tracks = try world.shards.map { try #require($0.tracks[id]) }
            let newest = tracks[0].timeline.newestTimestamp
            #expect(Set(tracks.map { $0.timeline.newestTimestamp }).count == 1)
            #expect(Set(tracks.map { $0.clock.instant(of: newest) }).count == 1)
        }
    }

    @Test func tapsAreAtHome() throws {
        let world = try RelayWorld(shards: 3)
        world.run(.seconds(1))
        let tap = CountingTap()
        world.host.relay.addTap(tap, to: world.camera.video)
        world.run(.seconds(1))
        #expect(tap.batches > 20)
        for shard in world.shards {
            #expect(shard.tracks[world.camera.video]?.taps.count == (shard === world.home ? 1 : 0))
        }
    }

    @Test func camerasAreSpreadAndWakeOnlyTheirHome() throws {
        let world = try RelayWorld(shards: 4)
        world.camera.isRunning = false
        let before = world.shards.map { $0.counters.inletsAsked }
        var maker = FrameMaker(sequenceNumber: 1)
        var inlets: [TrackInlet] = []
        for number in 0..<200 {
            inlets += world.host.relay.setTracks(
                camera: "camera \(number)",
                [RelayTrackDescription(isVideo: true, codec: .vp8, requestKeyFrame: {})])
        }
        world.host.settle()
        for inlet in inlets {
            inlet.deliver(maker.next(isKeyFrame: true, at: world.now))
            world.host.settle()
        }
        let asked = zip(world.shards, before).map { $0.counters.inletsAsked - $1 }
        #expect(asked.reduce(0, +) == 200)
        #expect(asked.allSatisfy { (30...70).contains($0) }, "\(asked)")
        #expect(world.counters.packetsReceived >= 600)
    }
}

private final class CountingTap: TrackTap {
    private let count = Locked(0)

    var batches: Int { count.withLock { $0 } }

    func receive(_ batch: TappedBatch) { count.withLock { $0 += 1 } }
    func trackRestarted() {}
    func trackEnded() {}
}
