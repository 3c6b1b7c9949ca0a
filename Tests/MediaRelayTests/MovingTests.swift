import DatagramPort
import RTP
import SDP
import Testing
import Transport

@testable import MediaRelay

/// A viewer goes from a camera's main stream to its smaller one and back.
@Suite struct MovingTests {
    private static let sub = TrackID(camera: "door", stream: .sub, index: 0)

    /// Adds a second video track, whose numbers have nothing to do with the first one's.
    private func addSubstream(_ world: RelayWorld) -> RelayTrack {
        let track = RelayTrack(
            id: Self.sub, handle: world.shard.makeTrackHandle(),
            description: RelayTrackDescription(
                isVideo: true, codec: MediaCodec(name: "VP8", clockRate: 90_000), requestKeyFrame: {}),
            limits: RelayLimits(), deadlines: world.shard.deadlines)
        world.shard.tracks[Self.sub] = track
        return track
    }

    private func frameMaker() -> FrameMaker {
        FrameMaker(sequenceNumber: 40_000, timestamp: 777, ticksPerFrame: 3_000)
    }

    private func headers(
        _ world: RelayWorld, _ viewer: SimulatedViewer, ssrc: UInt32? = nil
    ) -> [(sequence: UInt16, timestamp: UInt32)] {
        let ssrc = ssrc ?? viewer.videoSSRC
        return world.runs(for: viewer).flatMap { Outbox.packets(of: $0) }.filter { Outbox.ssrc(of: $0) == ssrc }
            .map { packet in
                (
                    Outbox.sequenceNumber(of: packet),
                    packet.dropFirst(4).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
                )
            }
    }

    @Test func numbersAndTimestampsContinueAcrossTheSwitch() throws {
        let world = try RelayWorld()
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(2))
        let track = addSubstream(world)
        var maker = frameMaker()
        for index in 0..<30 {
            let at = world.now - .milliseconds(Int64(30 - index) * 33)
            #expect(track.append(maker.next(isKeyFrame: index == 0, at: at)))
        }
        let before = headers(world, viewer)
        let relayed = try world.relayed(viewer)
        world.shard.move(relayed, from: world.camera.video, to: track, at: world.now)
        world.run(.milliseconds(300))
        let after = Array(headers(world, viewer).dropFirst(before.count))
        #expect(after.count >= 90, "the whole group of pictures of the other stream")
        let all = [try #require(before.last)] + after
        for (left, right) in zip(all, all.dropFirst()) {
            #expect(right.sequence &- left.sequence == 1)
            #expect(Int32(bitPattern: right.timestamp &- left.timestamp) >= 0)
            // The viewer's timestamps advance by no time that has not passed, except for a few pictures' worth.
            #expect(Int32(bitPattern: right.timestamp &- left.timestamp) < 9_000)
        }
        let old = try #require(world.shard.tracks[world.camera.video])
        #expect(!old.viewers.contains { $0 === relayed })
        #expect(world.host.outbox.keyStreamReuses == 0)
    }

    @Test func theOldStreamGoesOnUntilTheNewOneHasAKeyFrame() throws {
        let world = try RelayWorld()
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(1))
        let track = addSubstream(world)
        let relayed = try world.relayed(viewer)
        let before = headers(world, viewer).count
        world.shard.move(relayed, from: world.camera.video, to: track, at: world.now)
        world.run(.seconds(1))
        #expect(headers(world, viewer).count > before + 10)
        #expect(relayed.egress[0].track.id == world.camera.video)
        #expect(track.keyFrameRequests.forwarded == 1)
        // The other stream ends before it has brought anything: the viewer stays where it is.
        world.shard.setTracks([], camera: "elsewhere", at: world.now)
        #expect(!relayed.hasEnded)
    }

    @Test func aRequestForAPacketFromBeforeTheSwitchIsNotAnsweredWithAnother() throws {
        let world = try RelayWorld()
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(2))
        let track = addSubstream(world)
        var maker = frameMaker()
        #expect(track.append(maker.next(isKeyFrame: true, at: world.now)))
        let relayed = try world.relayed(viewer)
        let last = try #require(headers(world, viewer).last).sequence
        world.shard.move(relayed, from: world.camera.video, to: track, at: world.now)
        #expect(relayed.egress[0].find(sequenceNumber: last) == nil)
        #expect(relayed.egress[0].find(sequenceNumber: last &+ 1) != nil)
    }

    @Test func aCancelledSwitchLeavesTheViewerWhereItIs() throws {
        let world = try RelayWorld()
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(1))
        let track = addSubstream(world)
        let relayed = try world.relayed(viewer)
        let left = Locked<[String]>([])
        func move(from old: TrackID, to new: RelayTrack, _ name: String) {
            world.shard.move(relayed, from: old, to: new, at: world.now) { left.withLock { $0.append(name) } }
        }
        move(from: world.camera.video, to: track, "main")
        #expect(left.withLock { $0 }.isEmpty, "the viewer is still sent the main stream")
        // The viewer is on its way to the substream when it changes its mind.
        move(from: Self.sub, to: try #require(world.shard.tracks[world.camera.video]), "sub")
        #expect(left.withLock { $0 } == ["main", "sub"])
        var maker = frameMaker()
        #expect(track.append(maker.next(isKeyFrame: true, at: world.now)))
        world.run(.seconds(1))
        #expect(relayed.egress[0].track.id == world.camera.video && relayed.egress[0].nextTrack == nil)
        #expect(track.viewers.isEmpty && viewer.missingPictures == 0)
    }

    @Test func theOldTrackIsReleasedWhenTheViewerHasLeftIt() throws {
        let world = try RelayWorld()
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(1))
        let track = addSubstream(world)
        let inlet = TrackInlet(lists: [world.shard.ready])
        world.shard.tracksByInlet[ObjectIdentifier(inlet)] = track
        let left = Locked(0)
        world.shard.move(
            try world.relayed(viewer), from: world.camera.video, to: track, at: world.now
        ) { left.withLock { $0 += 1 } }
        world.run(.seconds(1))
        #expect(left.withLock { $0 } == 0)
        var maker = frameMaker()
        inlet.deliver(maker.next(isKeyFrame: true, at: world.now))
        world.run(.milliseconds(100))
        #expect(left.withLock { $0 } == 1)
    }

    /// The camera is rebooted without its microphone and later with it: its sound has other numbers and timestamps.
    @Test func soundThatReturnsContinuesWhereItWas() throws {
        let world = try RelayWorld()
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(2))
        func sound() -> [(sequence: UInt16, timestamp: UInt32)] {
            headers(world, viewer, ssrc: viewer.audioSSRC)
        }
        let before = sound()
        world.camera.shape.hasSound = false
        world.camera.restart(at: world.now, videoSequence: 9, pause: .milliseconds(100))
        world.run(.seconds(3))
        #expect(sound().count == before.count)
        world.camera.shape.hasSound = true
        world.camera.restart(at: world.now, videoSequence: 900, pause: .milliseconds(100))
        world.run(.seconds(1))
        let after = Array(sound().dropFirst(before.count))
        #expect(after.count > 40)
        let (last, first) = (try #require(before.last), try #require(after.first))
        #expect(first.sequence == last.sequence &+ 1)
        let ticks = Int32(bitPattern: first.timestamp &- last.timestamp)
        #expect(abs(Double(ticks) / 48_000 - 3.1) < 0.2, "as much as has passed")
    }
}
