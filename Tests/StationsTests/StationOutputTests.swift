import Cameras
import DatagramPort
import MediaRelay
import SDP
import StationFakes
import Testing
import Transport

@testable import Stations

private let off = OutputPolicy(isOn: false)
private let on = OutputPolicy()

/// What the switches do to a camera's station.
@Suite(.ownThread) struct StationOutputTests {
    private struct World {
        let relay: MediaRelay
        let camera = FakeCamera()
        let station: CameraStation
        let track = TrackID(camera: "door", index: 0)

        init(
            _ policy: OutputPolicy = OutputPolicy(), _ change: (inout CameraStation.Configuration) -> Void = { _ in }
        ) throws {
            relay = try MediaRelay(ports: UDPPortGroup(.loopback(), count: 2))
            var configuration = CameraStation.Configuration()
            change(&configuration)
            station = CameraStation(
                id: "door", source: camera, relay: relay, configuration: configuration,
                outputs: OutputPermits(camera: "door", policy: policy, patience: .seconds(120)))
            station.start()
        }

        /// The arrivals of what a tap gets that begins now.
        func arrivals(from start: TapStart = .newestKeyFrame, of track: TrackID? = nil) async -> [Instant] {
            let queue = TapQueue(limits: .init(duration: .seconds(3_600), overflow: .refuse))
            let tap = queue.makeTap()
            relay.addTap(tap, to: track ?? self.track, from: start)
            await withCheckedContinuation { continuation in
                relay.removeTap(tap, from: track ?? self.track) { continuation.resume() }
            }
            var entries: [TapQueue.Entry] = []
            _ = queue.take(into: &entries)
            return entries.compactMap(\.event.arrival)
        }
    }

    @Test func `what keeps a camera from being shown is the state of its source, or the reason beside it`() {
        var snapshot = CameraStation.Snapshot(state: .flowing, tracks: [])
        #expect(snapshot.trouble == nil)
        snapshot.reason = .faults([.failed(.noThread)])
        #expect(snapshot.trouble == .other(.faults([.failed(.noThread)])))
        #expect(snapshot.trouble?.words == "no thread could be started")
        snapshot.state = .backingOff(seconds: 4, reason: .connectionClosed)
        #expect(snapshot.trouble == .source(snapshot.state))
        #expect(snapshot.trouble?.words == "the camera closed the connection; the next try is in 4 s")
    }

    @Test func theCameraIsReadAtOnceWhileSomebodyWatches() throws {
        let world = try World()
        defer { world.relay.stop() }
        world.station.waitUntilSettled()
        #expect(world.camera.coalescing.last == true)
        let recording = world.station.hold(for: .recording)
        world.station.waitUntilSettled()
        #expect(world.camera.coalescing.last == true)
        let view = world.station.hold(for: .liveView)
        world.station.waitUntilSettled()
        #expect(world.camera.coalescing.last == false)
        view.end()
        world.station.waitUntilSettled()
        #expect(world.camera.coalescing.last == true)
        recording.end()
    }

    @Test func aCameraThatIsOffIsNotPulledAndForgetsItsPictures() async throws {
        let world = try World()
        defer { world.relay.stop() }
        world.camera.reportTracks([.vp8])
        let now = MonotonicClock.now
        world.camera.sendKeyFrame(number: 1, at: now)
        #expect(await world.arrivals() == [now])
        await world.station.setOutputs(off)
        // What is still on its way goes nowhere.
        world.camera.sendKeyFrame(number: 2, at: now + .seconds(1))
        #expect(await world.arrivals().isEmpty)
        world.station.waitUntilSettled()
        #expect(world.camera.runs == (1, 1))
        #expect(world.station.snapshot.state == .idle)
        #expect(world.station.snapshot.reason == .refused(.off))
        await world.station.setOutputs(on)
        world.station.waitUntilSettled()
        #expect(world.camera.runs == (2, 1))
        #expect(world.station.snapshot.reason == nil)
        // Its tracks are known, so a view that begins at once need not wait.
        #expect(await world.station.tracks(within: .zero).tracks.count == 1)
        #expect(await world.arrivals().isEmpty)
        world.camera.reportTracks([.vp8])
        world.camera.sendKeyFrame(number: 3, at: now + .seconds(2))
        #expect(await world.arrivals() == [now + .seconds(2)])
    }

    @Test func aCameraThatIsPulledWhileOffShowsNothingOfThatTime() async throws {
        let world = try World { $0.pullsWhileOff = true }
        defer { world.relay.stop() }
        world.camera.reportTracks([.vp8, .opus])
        let now = MonotonicClock.now
        let hold = world.station.hold(for: .preRoll(.seconds(30)))
        world.camera.sendKeyFrame(number: 1, at: now)
        await world.station.setOutputs(off)
        world.station.waitUntilSettled()
        #expect(world.camera.runs == (1, 0) && world.station.snapshot.reason == .refused(.off))
        world.camera.sendKeyFrame(number: 2, at: now + .seconds(1))
        // It announces its tracks meanwhile.
        world.camera.reportTracks([.vp8, .opus]) { $0[0].connection = 7 }
        world.camera.sendKeyFrame(number: 3, at: now + .seconds(2))
        await world.station.setOutputs(on)
        #expect(await world.arrivals(from: .keyFrame(before: now)).isEmpty)
        world.camera.sendKeyFrame(number: 4, at: now + .seconds(3))
        #expect(await world.arrivals(from: .keyFrame(before: now)) == [now + .seconds(3)])
        hold.end()
    }

    @Test(arguments: [
        OutputPolicy(softRecordingPrivacy: true), OutputPolicy(softLivestreamPrivacy: true),
    ])
    func afterAPrivacyModeNobodyBeginsWithWhatCameMeanwhile(_ policy: OutputPolicy) async throws {
        let world = try World()
        defer { world.relay.stop() }
        world.camera.reportTracks([.vp8, .linear])
        let now = MonotonicClock.now
        // Somebody to whom the mode does not apply is in the middle of it.
        let queue = TapQueue(limits: .init(duration: .seconds(3_600), overflow: .refuse))
        let tap = queue.makeTap()
        world.relay.addTap(tap, to: world.track)
        // It is there before the first picture.
        _ = await world.relay.counters()
        let hold = world.station.hold(for: .preRoll(.seconds(30)))
        world.camera.sendKeyFrame(number: 1, at: now)
        world.camera.sendSound(number: 1, track: 1, at: now)
        await world.station.setOutputs(policy)
        world.camera.sendKeyFrame(number: 2, at: now + .seconds(1))
        world.camera.sendSound(number: 2, track: 1, at: now + .seconds(1))
        // It goes on: something may still be had.
        #expect(await world.arrivals() == [now + .seconds(1)])
        await world.station.setOutputs(on)
        let sound = TrackID(camera: "door", kind: .audio, index: 1)
        #expect(await world.arrivals(from: .keyFrame(before: now)).isEmpty)
        #expect(await world.arrivals(from: .keyFrame(before: now), of: sound).isEmpty)
        world.camera.sendKeyFrame(number: 3, at: now + .seconds(2))
        world.camera.sendSound(number: 3, track: 1, at: now + .seconds(2))
        #expect(await world.arrivals(from: .keyFrame(before: now)) == [now + .seconds(2)])
        #expect(await world.arrivals(from: .keyFrame(before: now), of: sound) == [now + .seconds(2)])
        var entries: [TapQueue.Entry] = []
        _ = queue.take(into: &entries)
        #expect(entries.compactMap(\.event.arrival) == [now, now + .seconds(1), now + .seconds(2)])
        #expect(
            !entries.contains { entry in
                if case .restarted = entry.event { true } else { false }
            })
        hold.end()
    }

    @Test func `a muted microphone lets no sound out, and pictures go on`() async throws {
        let world = try World()
        defer { world.relay.stop() }
        world.camera.reportTracks([.vp8, .linear])
        let now = MonotonicClock.now
        let sound = TrackID(camera: "door", kind: .audio, index: 1)
        let queue = TapQueue(limits: .init(duration: .seconds(3_600), overflow: .refuse))
        world.relay.addTap(queue.makeTap(), to: sound)
        _ = await world.relay.counters()
        let hold = world.station.hold(for: .preRoll(.seconds(30)))
        world.camera.sendSound(number: 1, track: 1, at: now)
        // A tap of the picture waits for everything that was sent before. A tap of the sound does not.
        _ = await world.arrivals()
        await world.station.setOutputs(OutputPolicy(mutesSound: true))
        // The source announces its tracks again meanwhile, as it does when it reconnects.
        for step in 1...2 {
            let moment = now + .seconds(step)
            world.camera.sendKeyFrame(number: UInt16(step), at: moment)
            world.camera.sendSound(number: UInt16(step + 1), track: 1, at: moment)
            #expect(await world.arrivals() == [moment])
            if step == 1 { world.camera.reportTracks([.vp8, .linear]) }
        }
        await world.station.setOutputs(on)
        world.camera.sendSound(number: 4, track: 1, at: now + .seconds(3))
        #expect(await world.arrivals(from: .keyFrame(before: now), of: sound) == [now + .seconds(3)])
        var entries: [TapQueue.Entry] = []
        _ = queue.take(into: &entries)
        #expect(entries.compactMap(\.event.arrival) == [now, now + .seconds(3)])
        hold.end()
    }

    @Test func `what may be recorded of the sound follows both switches`() {
        #expect(OutputPolicy().recordsSound)
        #expect(!OutputPolicy(mutesSound: true).recordsSound && !OutputPolicy(mutesRecordings: true).recordsSound)
        // Muting is not privacy: nothing else is refused.
        #expect(OutputPolicy(mutesSound: true, mutesRecordings: true).allowed == Set(OutputUsage.allCases))
    }

    @Test func aCameraThatWasSavedAsOffBeginsOff() async throws {
        let world = try World(off)
        defer { world.relay.stop() }
        #expect(world.camera.runs.starts == 0)
        #expect(throws: StationError.refused(camera: "door", .off)) {
            _ = try world.station.permit(for: .liveView, owner: "view", revoked: nil)
        }
        await #expect(throws: StationError.refused(camera: "door", .off)) { _ = try await world.station.snapshot() }
        await world.station.setOutputs(on)
        world.station.waitUntilSettled()
        #expect(world.camera.runs.starts == 1)
    }

    @Test func hardPrivacyAndBothSoftModesStopTheCameraToo() async throws {
        let policies: [(OutputPolicy, OutputRefusal)] = [
            (OutputPolicy(hardPrivacy: true), .hardPrivacy),
            (OutputPolicy(softRecordingPrivacy: true, softLivestreamPrivacy: true), .livestreamPrivacy),
        ]
        for (policy, refusal) in policies {
            let world = try World()
            defer { world.relay.stop() }
            world.camera.reportTracks([.vp8])
            await world.station.setOutputs(policy)
            world.station.waitUntilSettled()
            #expect(world.camera.runs == (1, 1))
            #expect(world.station.snapshot.reason == .refused(refusal))
            await world.station.setOutputs(on)
            world.station.waitUntilSettled()
            #expect(world.camera.runs == (2, 1))
        }
    }
}
