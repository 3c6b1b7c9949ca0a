import NetworkSimulator
import PeerFakes
import RTP
import SDP
import Testing
import Transport

@testable import MediaRelay

@Suite struct StreamTests {
    @Test(arguments: [UInt16(20), 30_000, 64_900, 65_100], 1...2)
    func theStreamContinuesWhenTheCameraRestarts(sequence: UInt16, shards: Int) throws {
        let world = try RelayWorld(shards: shards) { $0.keyFrameInterval = 30 }
        world.run(.seconds(3))
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(3))
        let before = try #require(viewer.pictures.last)
        let asked = world.camera.requests.count
        world.camera.restart(at: world.now, videoSequence: sequence, pause: .seconds(2))
        let packets = viewer.videoSequence.count
        world.run(.seconds(6))
        #expect(viewer.hasContinuousSequence)
        #expect(viewer.videoSequence.count > packets + 200)
        let after = try #require(viewer.pictures.first { $0.number == before.number + 1 })
        #expect(after.isKeyFrame)
        // The time without pictures is in the timestamps.
        let pause = after.at - before.at
        let ticks = Double(Int32(bitPattern: after.timestamp &- before.timestamp))
        #expect(abs(ticks / 90_000 - pause.inSeconds) < 0.1)
        #expect(viewer.missingPictures == 0 && viewer.brokenFrames == 0)
        #expect(viewer.notices.all == [.connected])
        #expect(zip(viewer.sounds, viewer.sounds.dropFirst()).allSatisfy { $1.number == $0.number + 1 })
        #expect(world.host.outbox.keyStreamReuses == 0)
        // The new source is asked for a key frame, in case that it does not begin with one.
        #expect(world.camera.requests.count == asked + 1)
    }

    /// A restarted maker of a track numbers it from a new start, by chance a little below the old one.
    @Test func aSourceThatRestartsIsBelievedWhateverItsNumbers() throws {
        let world = try RelayWorld()
        let (id, inlet) = (TrackID(camera: "made", index: 0, isDerived: true), TrackInlet(lists: [world.shard.ready]))
        let description = RelayTrackDescription(isVideo: true, codec: .vp8, requestKeyFrame: {})
        world.shard.setTracks([(id, description, inlet)], camera: "made", at: world.now)
        let track = try #require(world.shard.tracks[id])
        var maker = FrameMaker(sequenceNumber: 20_000)
        inlet.deliver(maker.next(isKeyFrame: true, at: world.now))
        inlet.deliver(maker.next(at: world.now))
        world.shard.handleInlets(at: world.now)
        let end = track.timeline.nextSequence
        // A batch that still waits, and that nobody must be shown.
        inlet.deliver(maker.next(at: world.now))
        inlet.recordRestart()
        maker.restart(sequenceNumber: 19_000, timestamp: 5)
        world.shard.handleInlets(at: world.now)
        #expect(track.ring.newestKeyFrame == nil && track.ring.footprint == 0)
        inlet.deliver(maker.next(isKeyFrame: true, at: world.now + .seconds(1)))
        world.shard.handleInlets(at: world.now + .seconds(1))
        #expect(track.ring.newestKeyFrame != nil)
        #expect(track.timeline.nextSequence == end + 3)
    }

    @Test func batchesThatDoNotRiseHaveNoPlace() throws {
        var timeline = TrackTimeline(clockRate: 90_000)
        var camera = FrameMaker(sequenceNumber: 100, timestamp: 1_000)
        let batches = (0..<4).map { camera.next(at: milliseconds(Int64($0) * 33)) }
        #expect(timeline.place(batches[0])?.firstSequence == 0)
        #expect(timeline.place(batches[2])?.firstSequence == 6)
        #expect(timeline.place(batches[1]) == nil)
        #expect(timeline.place(batches[2]) == nil)
        #expect(timeline.place(batches[3])?.firstSequence == 9)
    }

    @Test func aRestartWithSmallerNumbersIsOneRestart() throws {
        var timeline = TrackTimeline(clockRate: 90_000)
        var camera = FrameMaker(sequenceNumber: 40_000, timestamp: 1_000)
        _ = timeline.place(camera.next(at: milliseconds(0)))
        camera.restart(sequenceNumber: 30_000, timestamp: 5)
        timeline.recordRestart()
        #expect(timeline.place(camera.next(at: milliseconds(33)))?.firstSequence == 3)
        #expect(timeline.place(camera.next(at: milliseconds(66)))?.firstSequence == 6)
        #expect(timeline.nextSequence == 9)
    }

    /// Picture and sound reach the relay with different delays, and the camera's clock is wrong; a player still learns
    /// which sound belongs to which picture.
    @Test(arguments: 1...2) func senderReportsGiveTheRightLipSync(_ shards: Int) throws {
        let world = try RelayWorld(shards: shards) { $0.pictureDelay = .milliseconds(230) }
        world.camera.startReports(at: world.now + .milliseconds(500))
        world.run(.seconds(3))
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(8))
        let video = try #require(viewer.reports[viewer.videoSSRC])
        let audio = try #require(viewer.reports[viewer.audioSSRC])
        func captured(_ timestamp: UInt32, _ report: RTCPSenderReport, rate: Int64) -> Int64 {
            let ticks = Int64(Int32(bitPattern: timestamp &- report.rtpTimestamp))
            return report.ntp.unixNanoseconds + ticks * 1_000_000_000 / rate
        }
        let pictures = viewer.pictures.suffix(30)
        let sounds = viewer.sounds.suffix(60)
        #expect(!pictures.isEmpty && !sounds.isEmpty)
        for picture in pictures {
            for sound in sounds {
                let told =
                    captured(picture.timestamp, video, rate: 90_000) - captured(sound.timestamp, audio, rate: 48_000)
                let real = world.camera.pictureTimes[picture.number] - world.camera.soundTimes[sound.number]
                #expect(abs(told - real.wholeNanoseconds) < 1_000_000)
            }
        }
        #expect(video.packetCount > 100 && audio.packetCount > 300)
    }

    @Test func transportWideNumbersRiseByOneOverAllStreams() throws {
        let world = try RelayWorld(conditions: LinkConditions(latency: .milliseconds(15), loss: 0.05), seed: 9)
        world.run(.seconds(2))
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        let address = viewer.addresses[0]
        for step in 0..<200 {
            world.host.outbox.isBlocked = { step % 20 == 7 && $0 == address }
            world.run(.milliseconds(50))
        }
        let packets = world.runs(for: viewer).flatMap { Outbox.packets(of: $0) }
        let ssrcs = Set(packets.map { Outbox.ssrc(of: $0) })
        #expect(ssrcs == [viewer.videoSSRC, viewer.audioSSRC, viewer.retransmissionSSRC])
        let numbers = packets.compactMap { Outbox.transportSequence(of: $0) }
        #expect(numbers.count == packets.count)
        // What a blocked socket does not accept takes no number, be it new or a retransmission.
        let jumps = zip(numbers, numbers.dropFirst()).filter { $1 != $0 &+ 1 }
        #expect(jumps.isEmpty, "\(jumps.count)")
    }

    @Test func runsAreOfEqualPackets() throws {
        let world = try RelayWorld { $0.paddingInterval = 10 }
        world.run(.seconds(3))
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(5))
        let runs = world.runs(for: viewer).filter { Outbox.ssrc(of: $0.bytes[...]) == viewer.videoSSRC }
        for run in runs {
            let packets = Outbox.packets(of: run)
            #expect(packets.count <= SegmentRun.maximumSegments && run.bytes.count <= SegmentRun.maximumBytes)
            for packet in packets.dropLast() { #expect(packet.count == run.transmit.segmentSize) }
            #expect(try #require(packets.last).count <= run.transmit.segmentSize)
            for packet in packets { #expect(Outbox.ssrc(of: packet) == viewer.videoSSRC) }
        }
        // A picture of three packets is one send, and so is most of a key frame.
        let datagrams = runs.reduce(0) { $0 + $1.transmit.datagramCount }
        #expect(Double(datagrams) / Double(runs.count) > 2.5)
    }

    /// On a line that all of them share, the first ones would get all the room, and the last ones would lose every picture.
    @Test func noViewerIsAlwaysServedFirst() throws {
        let world = try RelayWorld { $0.hasSound = false }
        world.run(.seconds(1))
        for number in 1...4 { #expect(world.connect(try world.addViewer(number) { $0.hasSound = false })) }
        world.run(.seconds(1))
        let begin = world.now
        world.run(.seconds(20))
        var (firsts, keyFrames): ([TransportAddress: Int], Set<TransportAddress>) = ([:], [])
        var last = begin
        for run in world.host.outbox.runs where run.at > last {
            last = run.at
            firsts[run.transmit.destination, default: 0] += 1
            if run.transmit.byteCount > 10_000 { keyFrames.insert(run.transmit.destination) }
        }
        #expect(firsts.count == 4 && firsts.values.allSatisfy { 70...80 ~= $0 }, "\(firsts)")
        // A key frame comes each sixty pictures.
        #expect(keyFrames.count > 1, "\(keyFrames)")
    }

    @Test func packetsWithoutPayloadAreCarriedAndDisturbNothing() throws {
        let world = try RelayWorld(conditions: LinkConditions(latency: .milliseconds(10), loss: 0.02)) {
            $0.paddingInterval = 3
        }
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(20))
        #expect(viewer.missingPictures == 0 && viewer.brokenFrames == 0)
        #expect(viewer.pictures.count > 280)
    }
}
