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

@Suite(.ownThread) struct PullingTests {
    private func world() async throws -> ServiceWorld {
        let world = try await ServiceWorld(codecs: [], station: { $0.pull = .onDemand })
        return world
    }

    @Test func aCameraOnDemandIsIdleUntilAViewerComes() async throws {
        let world = try await ServiceWorld(
            codecs: [], cameraTimeout: .seconds(3_600), station: { $0.pull = .onDemand })
        #expect(world.camera.runs.starts == 0)
        #expect(world.station.snapshot.state == .idle)
        #expect(world.station.snapshot.reason == .onDemand)
        async let starting = world.start()
        #expect(await eventually { world.camera.runs.starts == 1 })
        world.camera.reportTracks([.vp8, .opus])
        let session = try await starting
        #expect(world.station.snapshot.state == .flowing && world.station.snapshot.heldFor == [.liveView])
        try await world.service.stopLiveView(SessionReference(session.mediaSessionId, principal: "owner"))
        // It continues for ten more seconds, for somebody who reloads the page.
        world.station.waitUntilSettled()
        #expect(world.camera.runs.stops == 0)
        world.clock.advance(by: .seconds(9))
        world.station.waitUntilSettled()
        #expect(world.camera.runs.stops == 0)
        world.clock.advance(by: .seconds(1))
        world.station.waitUntilSettled()
        #expect(world.camera.runs.stops == 1)
        #expect(world.station.snapshot.state == .idle)
    }

    @Test func theSecondViewerOfAnIdleCameraIsAnsweredAtOnce() async throws {
        let world = try await world()
        let hold = world.station.hold(for: .reader)
        world.station.waitUntilSettled()
        world.camera.reportTracks([.vp8, .opus])
        hold.end()
        world.clock.advance(by: .seconds(10))
        world.station.waitUntilSettled()
        #expect(world.camera.runs.stops == 1)
        // Its tracks are remembered, so it connects while the viewer's own connection is made.
        _ = try await world.start()
        world.station.waitUntilSettled()
        #expect(world.camera.runs.starts == 2)
    }

    @Test func aStartThatFailsLeavesNothingPulled() async throws {
        let world = try await world()
        let error = await failure { _ = try await world.start() }
        guard case .station(.noMedia(camera: "door", _)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        world.clock.advance(by: .seconds(10))
        world.station.waitUntilSettled()
        #expect(world.station.snapshot.heldFor.isEmpty)
        #expect(world.camera.runs.stops == 1)
    }

    /// Waits until the relay has taken in what the camera has sent.
    private func takeIn(_ world: ServiceWorld) async {
        await withCheckedContinuation { continuation in
            world.relay.postToHome(of: "door") { shard, now in
                shard.handleInlets(at: now)
                continuation.resume()
            }
        }
    }

    @Test func aPreRollPullsTheCameraAndKeepsItsTracks() async throws {
        let world = try await world()
        let hold = world.station.hold(for: .preRoll(.seconds(7)))
        world.station.waitUntilSettled()
        #expect(world.camera.runs.starts == 1 && world.station.snapshot.heldFor == [.preRoll(.seconds(7))])
        // Sound that is made of the camera's is not kept: nobody uses it.
        world.camera.reportTracks([.vp8, .linear])
        let start = MonotonicClock.now
        for second in 0..<20 as Range<UInt16> {
            // The thirtieth picture of each second.
            world.camera.sendKeyFrame(number: second * 30, at: start + .seconds(Int(second)))
            // More than two seconds must not wait for the relay.
            await takeIn(world)
        }
        #expect(await world.relay.counters().retentions == 1)
        let track = TrackID(camera: "door", index: 0)
        #expect(try #require(hold.retention?.grants[track]) == RetentionGrant(reach: .seconds(8)))
        #expect(hold.retention?.grants.count == 1 && hold.shortfall == nil)
        // The relay begins a tap where a trigger needs it.
        let queue = TapQueue(limits: .init(duration: .seconds(60), overflow: .refuse))
        let tap = queue.makeTap()
        world.relay.addTap(tap, to: track, from: .keyFrame(before: start + .milliseconds(13_500)))
        _ = await world.relay.counters()
        var entries: [TapQueue.Entry] = []
        _ = queue.take(into: &entries)
        #expect(entries.compactMap(\.event.arrival).first == start + .seconds(13))
        hold.end()
        hold.end()
        #expect(await world.relay.counters().retentions == 0)
        // One that nobody keeps ends as well.
        _ = world.station.hold(for: .preRoll(.seconds(3)))
        #expect(await world.relay.counters().retentions == 0)
    }

    @Test func aPreRollThatIsTooShortSaysWhy() async throws {
        let world = try await ServiceWorld(codecs: [.vp8])
        let news = Locked<[RetentionGrant]>([])
        let hold = world.station.hold(for: .preRoll(.seconds(500))) { _, grant in
            news.withLock { $0.append(grant) }
        }
        world.camera.sendKeyFrame(number: 1, at: MonotonicClock.now)
        await takeIn(world)
        #expect(await world.relay.counters().retentionsShort == 1)
        #expect(news.withLock { $0 } == [RetentionGrant(reach: .zero, limit: .duration(.seconds(120)))])
        #expect(
            hold.shortfall == "the pre-roll of door reaches back 0 s instead of 500 s: at most 120 s can be kept")
    }

    @Test func aPressOpensTheStreamAheadOfTheFirstViewer() async throws {
        let world = try await world()
        world.station.recordAttention()
        world.station.waitUntilSettled()
        #expect(world.camera.runs.starts == 1)
        world.camera.reportTracks([.vp8, .opus])
        world.clock.advance(by: .seconds(30))
        world.station.waitUntilSettled()
        #expect(world.camera.runs.stops == 1)
    }

    @Test func aCameraThatIsAlwaysPulledIsNotStoppedByHolds() async throws {
        let world = try await ServiceWorld()
        let session = try await world.start()
        try await world.service.stopLiveView(SessionReference(session.mediaSessionId, principal: "owner"))
        world.clock.advance(by: .seconds(3_600))
        world.station.waitUntilSettled()
        #expect(world.camera.runs == (1, 0))
        world.station.stop()
        #expect(world.camera.runs == (1, 1))
        #expect(world.station.snapshot.state == .stopped)
    }
}

@Suite(.ownThread) struct RebootTests {
    @Test func viewersStayThroughARebootAndSeeWhy() async throws {
        let world = try await ServiceWorld()
        let session = try await world.start()
        #expect(await world.service.sessions().first?.cameraState == .flowing)
        #expect(await world.service.sessions().first?.cameraReason == nil)
        world.camera.report(.state(.stalled(track: 0)))
        let state = SourceState.backingOff(seconds: 4, reason: .unreachable(CameraUnreachable("connection refused")))
        world.camera.report(.state(state))
        for _ in 0..<20 {
            world.clock.advance(by: .seconds(10))
            _ = try await world.service.extendLiveView(
                SessionReference(session.mediaSessionId, principal: "owner"), extendedDurationSeconds: nil)
        }
        let waiting = try #require(await world.service.sessions().first)
        #expect(waiting.cameraState == .backingOff && waiting.cameraReason == state.words)
        world.camera.reportTracks([.vp8, .opus])
        let back = try #require(await world.service.sessions().first)
        #expect(back.mediaSessionId == session.mediaSessionId && back.cameraState == .flowing)
        #expect(await world.viewerCount() == 1)
    }

    @Test func aCameraThatReturnsWithAnotherVideoCodecEndsItsSessions() async throws {
        let world = try await ServiceWorld()
        _ = try await world.start()
        world.camera.report(
            .state(.backingOff(seconds: 4, reason: .unreachable(CameraUnreachable("connection refused")))))
        world.camera.reportTracks([.h265, .opus])
        await world.announcements.waitForEnd()
        #expect(world.announcements.ends == [.relay(.viewer(.trackGone))])
    }

    @Test func aCameraThatReturnsWithoutItsSoundKeepsItsPicture() async throws {
        let world = try await ServiceWorld()
        _ = try await world.start()
        world.camera.report(
            .state(.backingOff(seconds: 4, reason: .unreachable(CameraUnreachable("connection refused")))))
        world.camera.reportTracks([.vp8])
        #expect(await world.viewerCount() == 1)
        world.camera.report(
            .state(.backingOff(seconds: 4, reason: .unreachable(CameraUnreachable("connection refused")))))
        world.camera.reportTracks([.vp8, .pcma])
        #expect(await world.viewerCount() == 1)
        #expect(world.announcements.ends.isEmpty)
    }

    @Test func aProfileThatTheStreamShowsLaterIsNotARestart() async throws {
        let world = try await ServiceWorld(codecs: [.h264(profileLevelID: "42e01f"), .opus])
        let inlets = world.camera.inlets.map { $0 as? TrackInlet }
        world.camera.reportTracks([.h264(profileLevelID: "4d001f"), .opus])
        let after = world.camera.inlets.map { $0 as? TrackInlet }
        #expect(inlets.count == 2 && zip(inlets, after).allSatisfy { $0 === $1 })
        world.camera.reportTracks([.h264(profileLevelID: "4d001f"), .opus])
        let restarted = world.camera.inlets.map { $0 as? TrackInlet }
        #expect(!zip(inlets, restarted).contains { $0 === $1 })
    }
}
