import Cameras
import DatagramPort
import HomeTypes
import SDP
import StationFakes
import Testing
import Transport

@testable import MediaRelay
@testable import Signalling
@testable import Stations

@Suite(.ownThread) struct DerivedTrackTests {
    /// Hands in sound once the relay has done what it was asked before: a tap that starts misses what came earlier.
    private func feed(_ world: ServiceWorld, _ numbers: Range<UInt16>) async {
        _ = await world.relay.counters()
        for number in numbers {
            world.camera.sendSound(number: number, track: 1, at: .zero + .milliseconds(20 * Int(number)))
        }
    }

    @Test func aTranscoderRunsOnlyWhileSomebodyUsesIt() async throws {
        let world = try await ServiceWorld(codecs: [.vp8, .linear])
        let derived = try #require(world.station.derived.first)
        #expect(derived.status == DerivedTrack.Status())
        let session = try await world.start(try ServiceWorld.text(ChoosingTests.chromium))
        #expect(derived.status.isRunning && derived.status.users == 1)
        await feed(world, 0..<10)
        #expect(await eventually { derived.status.counters.packets >= 8 })
        try await world.service.stopLiveView(SessionReference(session.mediaSessionId, principal: "owner"))
        #expect(!derived.status.isRunning && derived.status.users == 0)
        _ = await world.viewerCount()
        await feed(world, 10..<30)
        _ = await world.viewerCount()
        #expect(derived.status.counters.packets <= 10, "nothing of what came afterwards")
    }

    @Test func aSecondViewerSharesTheEncode() async throws {
        let world = try await ServiceWorld(codecs: [.vp8, .linear])
        let derived = try #require(world.station.derived.first)
        let first = try await world.start(try ServiceWorld.text(ChoosingTests.chromium))
        _ = try await world.start(try ServiceWorld.text(ChoosingTests.chromium), principal: "guest")
        #expect(derived.status.users == 2)
        // Less than the queue's bound of half a second, however slow the machine is.
        await feed(world, 0..<22)
        #expect(await eventually { derived.status.counters.packets >= 20 })
        #expect(derived.status.counters.packets <= 22, "each packet is made once")
        try await world.service.stopLiveView(SessionReference(first.mediaSessionId, principal: "owner"))
        #expect(derived.status.isRunning && derived.status.users == 1)
    }

    @Test func soundThatFailsSaysWhyAndDoesNotStopThePicture() async throws {
        let world = try await ServiceWorld(codecs: [.vp8, MediaCodec(name: "mpeg4-generic", clockRate: 16_000)])
        let derived = try #require(world.station.derived.first)
        _ = try await world.start(try ServiceWorld.text(ChoosingTests.chromium))
        // Bytes that are not AAC.
        await feed(world, 0..<300)
        #expect(await eventually { derived.status.failure != nil })
        let failure = try #require(derived.status.failure)
        guard case .undecodableSound = failure else {
            Issue.record("\(failure)")
            return
        }
        #expect(world.station.snapshot.reason == .faults([.failed(failure)]))
        let session = try #require(await world.service.sessions().first)
        #expect(session.codecs.contains("VP8"))
        #expect(world.station.transcodingCosts.first?.failures ?? 0 >= 100)
        #expect(session.notes.contains(failure.words))
        #expect(session.cameraState == .flowing && session.cameraReason == failure.words)
        #expect(await world.viewerCount() == 1)
    }

    @Test func theTranscoderFollowsACameraThatReturnsWithAnotherCodec() async throws {
        let world = try await ServiceWorld(codecs: [.vp8, .linear])
        let derived = try #require(world.station.derived.first)
        _ = try await world.start(try ServiceWorld.text(ChoosingTests.chromium))
        await feed(world, 0..<10)
        #expect(await eventually { derived.status.counters.packets >= 8 })
        world.camera.report(
            .state(.backingOff(seconds: 1, reason: .unreachable(CameraUnreachable("connection reset")))))
        world.camera.reportTracks([.vp8, MediaCodec(name: "L16", clockRate: 8_000)])
        #expect(world.station.derived.first === derived && derived.status.isRunning)
        #expect(await world.viewerCount() == 1)
        await feed(world, 0..<20)
        #expect(await eventually { derived.status.counters.packets >= 25 })
    }

    /// A microphone that is switched off and on again, with a viewer who stayed for the picture.
    @Test func soundThatReturnsIsTranscodedAgainForViewersThatStayed() async throws {
        let world = try await ServiceWorld(codecs: [.vp8, .linear])
        let derived = try #require(world.station.derived.first)
        let session = try await world.start(try ServiceWorld.text(ChoosingTests.chromium))
        await feed(world, 0..<10)
        #expect(await eventually { derived.status.counters.packets >= 8 })
        world.camera.report(
            .state(.backingOff(seconds: 1, reason: .unreachable(CameraUnreachable("connection reset")))))
        world.camera.reportTracks([.vp8])
        #expect(world.station.derived.isEmpty && !derived.status.isRunning && derived.status.users == 1)
        world.camera.report(
            .state(.backingOff(seconds: 1, reason: .unreachable(CameraUnreachable("connection reset")))))
        world.camera.reportTracks([.vp8, .linear])
        #expect(world.station.derived.first === derived && derived.status.isRunning)
        #expect(world.station.suspendedCount == 0)
        #expect(await world.viewerCount() == 1)
        await feed(world, 0..<10)
        #expect(await eventually { derived.status.counters.packets >= 8 })
        world.camera.reportTracks([.vp8])
        try await world.service.stopLiveView(SessionReference(session.mediaSessionId, principal: "owner"))
        world.camera.reportTracks([.vp8])
        #expect(world.station.suspendedCount == 0, "nobody uses it")
    }

    @Test func aTranscoderLeavesNothingForTheNext() async throws {
        let world = try await ServiceWorld(codecs: [.vp8, .linear])
        let derived = try #require(world.station.derived.first)
        for round in UInt16(0)..<3 {
            let lease = try derived.use(for: .recording)
            #expect(lease.owner == .recording)
            _ = await world.viewerCount()
            await feed(world, (round * 20)..<(round * 20 + 20))
            #expect(await eventually { derived.status.counters.packets >= 18 })
            lease.end()
            let held = await withCheckedContinuation { continuation in
                world.relay.postToHome(of: derived.id) { handler, now in
                    handler.handleInlets(at: now)
                    continuation.resume(returning: handler.tracks[derived.id]?.ring.footprint)
                }
            }
            #expect(held == 0)
        }
    }

    @Test func theBoundHoldsForWhatIsLiveAndNotForTheRing() throws {
        let worker = TranscoderWorker(bound: .milliseconds(500), at: .zero + .seconds(100))
        func receive(_ arrivals: some Sequence<Int>) throws {
            for milliseconds in arrivals {
                let batch = try #require(FakeCamera.sound(number: 1, at: .zero + .milliseconds(milliseconds)))
                worker.tap.receive(
                    TappedBatch(batch: batch, firstPacket: 0, firstSequence: 0, timestampOffset: 0, capture: .zero))
            }
        }
        var work: [TapQueue.Entry] = []
        // Twelve seconds of the ring, of which the thread takes the first at once.
        try receive([88_000])
        #expect(worker.take(into: &work) && work.count == 1)
        try receive(stride(from: 88_020, to: 100_000, by: 20))
        #expect(worker.dropped == TapQueue.Drops() && worker.take(into: &work) && work.count == 599)
        try receive(stride(from: 100_020, to: 101_000, by: 20))
        #expect(worker.dropped.packets > 0)
    }

    @Test func picturesThatComeAtOnceAreAllShown() async throws {
        let world = try await ServiceWorld(codecs: [.h265], station: { $0.transcodesVideo = .always })
        let derived = try #require(world.station.derived.first)
        let lease = try derived.use(for: .recording)
        _ = await world.viewerCount()
        // Cameras with B-frames send several pictures at a time.
        for batch in try CodedPictures.batches(CodedPictures.h265WithBFrames(), arrival: { _ in .zero }) {
            world.camera.deliver(batch, track: 0)
        }
        #expect(await eventually { derived.status.counters.packets >= 8 })
        #expect(derived.status.counters.skipped == 0)
        lease.end()
    }

    @Test func manyViewersComingAndGoingLeaveNothingRunning() async throws {
        let world = try await ServiceWorld(codecs: [.vp8, .linear])
        let derived = try #require(world.station.derived.first)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    for _ in 0..<20 {
                        let lease = try derived.use(for: .recording)
                        await Task.yield()
                        lease.end()
                        lease.end()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(derived.status.users == 0 && !derived.status.isRunning)
    }
}
