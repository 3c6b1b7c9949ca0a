import NetworkSimulator
import RTP
import Testing
import Transport

@testable import MediaRelay

@Suite struct JoiningTests {
    @Test(arguments: 1...3) func aViewerGetsTheNewestKeyFrameAndEverythingAfterIt(_ shards: Int) throws {
        let world = try RelayWorld(shards: shards)
        world.run(.milliseconds(7_300))
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        let connected = world.now
        let keyFrame = try #require(world.camera.keyFrames.last)
        let live = world.camera.pictureTimes.count - 1
        #expect(live - keyFrame > 40)
        world.run(.seconds(3))
        #expect(viewer.hasEveryPicture(from: keyFrame))
        #expect(viewer.brokenFrames == 0 && viewer.counters.droppedFrames == 0)
        #expect(viewer.hasContinuousSequence)
        let caughtUp = try #require(viewer.pictures.first { $0.number == live })
        // Some 200 packets in bursts of 16 each 2 ms.
        #expect(caughtUp.at - connected < .milliseconds(60))
        #expect(world.camera.requests.count == 0)
        // From there on each picture arrives as it is captured.
        for picture in viewer.pictures where picture.number > live + 1 {
            #expect(picture.at - world.camera.pictureTimes[picture.number] < .milliseconds(16))
        }
        #expect(viewer.sounds.count > 140)
    }

    @Test(arguments: 1...3) func theBacklogIsPaced(_ shards: Int) throws {
        let world = try RelayWorld(shards: shards) { $0.hasSound = false }
        world.run(.milliseconds(7_300))
        let viewer = try world.addViewer { $0.hasSound = false }
        #expect(world.connect(viewer))
        let connected = world.now
        world.run(.milliseconds(30))
        let limits = RelayLimits()
        var bursts: [Instant: Int] = [:]
        for run in world.runs(for: viewer) where run.at - connected < .milliseconds(30) {
            bursts[run.at, default: 0] += run.transmit.datagramCount
        }
        #expect(bursts.count > 8)
        #expect(bursts.values.allSatisfy { $0 <= limits.burstPackets })
        // Until the first answer comes, after 20 ms, the first window goes out.
        let times = bursts.keys.sorted()
        for (one, next) in zip(times, times.dropFirst()).prefix(3) { #expect(next - one >= .milliseconds(1)) }
        let early = bursts.filter { $0.key - times[0] < .milliseconds(20) }.values.reduce(0, +)
        #expect(early == BacklogPacer.receiverRoom)
    }

    @Test(arguments: 1...3) func theBacklogsTimestampsAreCompressedAndRise(_ shards: Int) throws {
        let world = try RelayWorld(shards: shards)
        world.run(.milliseconds(7_300))
        let live = world.camera.pictureTimes.count - 1
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(3))
        for (one, next) in zip(viewer.pictures, viewer.pictures.dropFirst()) {
            #expect(Int32(bitPattern: next.timestamp &- one.timestamp) > 0)
        }
        let first = try #require(viewer.pictures.first)
        let edge = try #require(viewer.pictures.first { $0.number == live + 2 })
        // The whole backlog takes no longer than two pictures of a fast camera.
        #expect(edge.timestamp &- first.timestamp < EgressEpoch.compressedTicks + 3 * 6_000)
        let last = try #require(viewer.pictures.last)
        #expect(last.timestamp &- edge.timestamp == UInt32(last.number - edge.number) * 6_000)
    }

    @Test(arguments: 1...3) func withoutAKeyFrameTheSourceIsAskedForOneOnce(_ shards: Int) throws {
        var limits = RelayLimits()
        limits.ringDuration = .seconds(2)
        let world = try RelayWorld(limits: limits, shards: shards) { $0.keyFrameInterval = nil }
        world.run(.seconds(10))
        #expect(world.camera.keyFrames == [0])
        let viewers = try (1...4).map { try world.addViewer($0) }
        world.run(.seconds(4))
        #expect(world.camera.requests.count == 1)
        let keyFrame = try #require(world.camera.keyFrames.last)
        #expect(world.camera.keyFrames.count == 2)
        for viewer in viewers {
            #expect(viewer.hasEveryPicture(from: keyFrame))
            #expect(viewer.hasContinuousSequence)
        }
    }

    @Test(arguments: 1...3) func aViewerThatArrivesBeforeTheCameraStartsWithItsFirstPicture(_ shards: Int) throws {
        let world = try RelayWorld(shards: shards)
        world.camera.isRunning = false
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(2))
        #expect(viewer.pictures.isEmpty)
        world.camera.restart(at: world.now, videoSequence: 5, pause: .milliseconds(100))
        world.camera.isRunning = true
        world.run(.seconds(2))
        #expect(viewer.hasEveryPicture(from: 0))
    }

    @Test(arguments: 1...3) func theStepsOfAStartAreRecorded(_ shards: Int) throws {
        let world = try RelayWorld(shards: shards)
        world.run(.seconds(1))
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(1))
        #expect(viewer.status.steps.map(\.step) == SessionStatus.Step.allCases)
        #expect(world.counters.viewersByPath == [try #require(viewer.status.path): 1])
        let elapsed = viewer.status.steps.map(\.elapsed)
        #expect(elapsed == elapsed.sorted())
        #expect(try #require(elapsed.last) < .milliseconds(100))
        #expect(viewer.notices.all == [.connected])
    }

    /// A browser that publishes makes key frames on request only, and a request goes over a network.
    @Test(arguments: 1...3) func aLostKeyFrameRequestIsRepeated(_ shards: Int) throws {
        let world = try RelayWorld(shards: shards) { $0.keyFrameInterval = nil }
        world.run(.seconds(15))
        let track = try #require(world.home.tracks[world.camera.video])
        #expect(track.ring.newestKeyFrame == nil, "the ring has let go of it")
        let viewer = try world.addViewer { $0.asksAgain = false }
        world.camera.shape.answersRequests = false
        #expect(world.connect(viewer))
        world.run(.seconds(1))
        #expect(world.camera.requests.count == 1 && viewer.pictures.isEmpty)
        _ = world.camera.requests.take()
        world.camera.shape.answersRequests = true
        world.run(.seconds(2))
        #expect(world.camera.requests.count == 2)
        #expect(viewer.pictures.count > 5 && viewer.missingPictures == 0)
        world.run(.seconds(5))
        #expect(world.camera.requests.count == 2, "nobody is waiting")
    }

    @Test(arguments: 1...3) func keyFrameRequestsOfManyViewersReachTheSourceOnceASecond(_ shards: Int) throws {
        let world = try RelayWorld(shards: shards) { $0.answersRequests = false }
        world.run(.seconds(1))
        let viewers = try (1...20).map { try world.addViewer($0) { $0.asksAgain = false } }
        world.run(.milliseconds(500))
        for _ in 0..<50 {
            for viewer in viewers { viewer.askForKeyFrame() }
            world.run(.milliseconds(100))
        }
        #expect((5...6).contains(world.camera.requests.count))
        let asked = world.shards.map { $0.tracks[world.camera.video]?.keyFrameRequests.asked ?? 0 }
        let merged = world.shards.map { $0.index == world.home.index ? 0 : 6 as UInt64 }.reduce(0, +)
        #expect((1_000...1_000 + merged).contains(asked.reduce(0, +)), "a shard's own requests are merged before")
        // One that came too early was kept, and made when its time had come.
        world.run(.seconds(3))
        #expect((5...7).contains(world.camera.requests.count))
    }
}
