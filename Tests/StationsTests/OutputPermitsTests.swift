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

/// Permits and their revocation, without a camera.
@Suite(.ownThread) struct OutputPermitsTests {
    /// Lets a test decide when an output confirms.
    private final class Output: Sendable {
        private struct State {
            var revocation: OutputRevocation?
            var waiter: CheckedContinuation<Void, Never>?
            var isOver = false
        }

        private let state = Locked(State())

        var revocation: OutputRevocation? { state.withLock { $0.revocation } }

        func revoke(_ revocation: OutputRevocation) async {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    state.revocation = revocation
                    if !state.isOver { state.waiter = continuation }
                    return state.isOver
                }
                if isOver { continuation.resume() }
            }
        }

        func confirm() {
            state.withLock { state in
                state.isOver = true
                return state.waiter.take()
            }?.resume()
        }
    }

    /// A place with live views that are cut when a test lets them be.
    private final class Site: OutputSite {
        private let state = Locked<(cuts: Int, waiting: [@Sendable () -> Void])>((0, []))

        /// How often the live views were to be cut.
        var cuts: Int { state.withLock { $0.cuts } }

        func cutLiveViews(whenEnded: @escaping @Sendable () -> Void) {
            state.withLock { state in
                state.cuts += 1
                state.waiting.append(whenEnded)
            }
        }

        /// Says that nothing more is sent to the live views.
        func confirm() {
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
            for one in waiting { one() }
        }

        func followOutputs() {}
        func cut(_ taps: [OutputTap]) {}
        func forget(_ lost: Set<OutputUsage>) async {}
        func hideHistory() {}
    }

    private func refusal(of usage: OutputUsage, _ permits: OutputPermits) -> OutputRefusal? {
        do throws(StationError) {
            _ = try permits.permit(for: usage, owner: "test", revoked: nil)
            return nil
        } catch {
            guard case .refused("door", let refusal) = error else {
                Issue.record("\(error)")
                return nil
            }
            return refusal
        }
    }

    @Test func aChangeReturnsWhenEveryOutputHasConfirmed() async throws {
        let permits = OutputPermits(camera: "door", patience: .seconds(3_600))
        let outputs = [Output(), Output()]
        let held = try outputs.map { output in
            try permits.permit(for: .liveView, owner: "view") { await output.revoke($0) }
        }
        let recording = try permits.permit(for: .recording, owner: "recorder") { _ in }
        let hasReturned = Locked(false)
        let change = Task {
            await permits.set(OutputPolicy(softLivestreamPrivacy: true))
            hasReturned.withLock { $0 = true }
        }
        #expect(await eventually { outputs.allSatisfy { $0.revocation != nil } })
        // Nothing new begins meanwhile.
        #expect(refusal(of: .liveView, permits) == .livestreamPrivacy)
        #expect(throws: StationError.refused(camera: "door", .livestreamPrivacy)) { try held[0].check() }
        outputs[0].confirm()
        #expect(!hasReturned.withLock { $0 })
        // The end of an output is a confirmation too.
        held[1].end()
        await change.value
        #expect(recording.revocation == nil && permits.count == 1)
        await permits.set(off)
        #expect(recording.revocation?.refusal == .off)
        outputs[1].confirm()
    }

    @Test func aRevocationSaysWhenTheSwitchWasSet() async throws {
        let moment = Locked(MonotonicClock.now)
        let permits = OutputPermits(camera: "door") { moment.withLock { $0 } }
        let set = moment.withLock { $0 }
        let permit = try permits.permit(for: .recording, owner: "recorder") { _ in
            moment.withLock { $0 += .seconds(5) }
        }
        await permits.set(OutputPolicy(softRecordingPrivacy: true))
        #expect(permit.revocation == OutputRevocation(refusal: .recordingPrivacy, moment: set))
    }

    @Test func aPermitThatWasRevokedStaysRevoked() async throws {
        let permits = OutputPermits(camera: "door")
        let permit = try permits.permit(for: .snapshot, owner: "snapshot") { _ in }
        await permits.set(off)
        await permits.set(on)
        #expect(throws: StationError.refused(camera: "door", .off)) { try permit.check() }
        #expect(refusal(of: .snapshot, permits) == nil)
    }

    @Test func changesTakeEffectInTheOrderOfTheirCalls() async throws {
        let permits = OutputPermits(camera: "door", patience: .seconds(3_600))
        let output = Output()
        let permit = try permits.permit(for: .liveView, owner: "view") { await output.revoke($0) }
        let first = Task { await permits.set(off) }
        #expect(await eventually { output.revocation != nil })
        let second = Task { await permits.set(on) }
        #expect(await eventually { permits.policy == on })
        // It is on when the first change is complete, and not before.
        #expect(refusal(of: .liveView, permits) == .off)
        output.confirm()
        await first.value
        await second.value
        #expect(refusal(of: .liveView, permits) == nil)
        #expect(permit.revocation?.refusal == .off)
    }

    @Test func liveViewsAreCutAtTheirPlaceWhateverKeepsTheirOwnersBusy() async throws {
        let permits = OutputPermits(camera: "door", patience: .seconds(3_600))
        let site = Site()
        permits.attach(site)
        let output = Output()
        let held = try permits.permit(for: .liveView, owner: "view") { await output.revoke($0) }
        let hasReturned = Locked(false)
        let change = Task {
            await permits.set(off)
            hasReturned.withLock { $0 = true }
        }
        // The owner has not confirmed, and does not have to.
        #expect(await eventually { site.cuts == 1 })
        #expect(await eventually { output.revocation != nil })
        output.confirm()
        held.end()
        // The change waits for the place as well.
        for _ in 0..<100 { await Task.yield() }
        #expect(!hasReturned.withLock { $0 })
        site.confirm()
        await change.value
        #expect(site.cuts == 1)
        // Nothing is cut by a change that allows live views.
        await permits.set(on)
        await permits.set(OutputPolicy(softRecordingPrivacy: true))
        #expect(site.cuts == 1)
    }

    @Test func liveViewsThatBeganMeanwhileAreCutWhenAnOwnerDoesNotConfirm() async throws {
        let permits = OutputPermits(camera: "door", patience: .milliseconds(50))
        let site = Site()
        permits.attach(site)
        let output = Output()
        let held = try permits.permit(for: .liveView, owner: "view") { await output.revoke($0) }
        let change = Task { await permits.set(off) }
        #expect(await eventually { site.cuts == 2 })
        site.confirm()
        await change.value
        output.confirm()
        held.end()
    }

    @Test func anOutputThatDoesNotConfirmLosesItsTaps() async throws {
        let relay = try MediaRelay(ports: UDPPortGroup(.loopback(), count: 2))
        defer { relay.stop() }
        let permits = OutputPermits(camera: "door", patience: .milliseconds(50))
        let camera = FakeCamera()
        let station = CameraStation(id: "door", source: camera, relay: relay, outputs: permits)
        station.start()
        camera.tellTracks([.vp8])
        let track = TrackID(camera: "door", index: 0)
        let queue = TapQueue(limits: .init(duration: .seconds(60), overflow: .refuse))
        let (mine, other) = (queue.makeTap(id: 1), queue.makeTap(id: 2))
        relay.addTaps([(mine, track), (other, track)])
        let output = Output()
        let permit = try station.permit(for: .recording, owner: "recorder") { await output.revoke($0) }
        permit.cover(mine, of: track)
        let view = try station.permit(for: .liveView, owner: "reader") { _ in }
        view.cover(other, of: track)
        await station.setOutputs(OutputPolicy(softRecordingPrivacy: true))
        camera.sendKeyFrame(number: 1, at: MonotonicClock.now)
        #expect(
            await eventually {
                await relay.counters().packetsReceived == 4
            })
        var entries: [TapQueue.Entry] = []
        _ = queue.take(into: &entries)
        #expect(
            entries.contains { entry in
                if case .ended = entry.event { entry.tap.id == 1 } else { false }
            })
        let readers = entries.compactMap { entry -> UInt64? in
            if case .batch = entry.event { entry.tap.id } else { nil }
        }
        #expect(readers == [2])
        output.confirm()
    }

    /// Outputs that begin while the camera is switched off and on again: none of them lives on, and none begins that is not
    /// allowed, whatever the order of the steps.
    @Test(arguments: 0..<40 as Range<UInt64>) func noOutputSurvivesThatBeganMeanwhile(seed: UInt64) async throws {
        let permits = OutputPermits(camera: "door", patience: .seconds(3_600))
        let random = Locked(RandomSource.seeded(seed))
        let live = Locked<Set<Int>>([])
        @Sendable func pause() async {
            for _ in 0..<random.withLock({ $0.next() % 12 }) { await Task.yield() }
        }
        let starts = (0..<24).map { number in
            Task.detached { () -> OutputPermit? in
                await pause()
                let permit = try? permits.permit(for: .liveView, owner: "\(number)") { _ in
                    await pause()
                    live.withLock { _ = $0.remove(number) }
                }
                guard let permit else { return nil }
                await pause()
                // Beginning and asking are one step for the owner.
                live.withLock { live in
                    if permit.revocation == nil { live.insert(number) }
                }
                return permit
            }
        }
        await pause()
        await permits.set(off)
        #expect(live.withLock { $0 }.isEmpty)
        var kept: [OutputPermit] = []
        for start in starts { if let permit = await start.value { kept.append(permit) } }
        #expect(live.withLock { $0 }.isEmpty)
        #expect(kept.allSatisfy { $0.revocation != nil })
        #expect(permits.count == 0)
    }
}

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
                outputs: OutputPermits(camera: "door", policy: policy))
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

    @Test func aCameraThatIsOffIsNotPulledAndForgetsItsPictures() async throws {
        let world = try World()
        defer { world.relay.stop() }
        world.camera.tellTracks([.vp8])
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
        #expect(world.station.snapshot.reason == "it is switched off")
        await world.station.setOutputs(on)
        world.station.waitUntilSettled()
        #expect(world.camera.runs == (2, 1))
        #expect(world.station.snapshot.reason == nil)
        // Its tracks are known, so a view that begins at once need not wait.
        #expect(await world.station.tracks(within: .zero).tracks.count == 1)
        #expect(await world.arrivals().isEmpty)
        world.camera.tellTracks([.vp8])
        world.camera.sendKeyFrame(number: 3, at: now + .seconds(2))
        #expect(await world.arrivals() == [now + .seconds(2)])
    }

    @Test func aCameraThatIsPulledWhileOffShowsNothingOfThatTime() async throws {
        let world = try World { $0.pullsWhileOff = true }
        defer { world.relay.stop() }
        world.camera.tellTracks([.vp8, .opus])
        let now = MonotonicClock.now
        let hold = world.station.hold(for: .preRoll(.seconds(30)))
        world.camera.sendKeyFrame(number: 1, at: now)
        await world.station.setOutputs(off)
        world.station.waitUntilSettled()
        #expect(world.camera.runs == (1, 0) && world.station.snapshot.reason == "it is switched off")
        world.camera.sendKeyFrame(number: 2, at: now + .seconds(1))
        // It announces its tracks meanwhile.
        world.camera.tellTracks([.vp8, .opus]) { $0[0].connection = 7 }
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
        world.camera.tellTracks([.vp8, .linear])
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
        world.camera.tellTracks([.vp8, .linear])
        let now = MonotonicClock.now
        let sound = TrackID(camera: "door", kind: .audio, index: 1)
        let queue = TapQueue(limits: .init(duration: .seconds(3_600), overflow: .refuse))
        world.relay.addTap(queue.makeTap(), to: sound)
        _ = await world.relay.counters()
        let hold = world.station.hold(for: .preRoll(.seconds(30)))
        world.camera.sendSound(number: 1, track: 1, at: now)
        _ = await world.arrivals(of: sound)
        await world.station.setOutputs(OutputPolicy(mutesSound: true))
        // The source announces its tracks again meanwhile, as it does when it reconnects.
        for step in 1...2 {
            let moment = now + .seconds(step)
            world.camera.sendKeyFrame(number: UInt16(step), at: moment)
            world.camera.sendSound(number: UInt16(step + 1), track: 1, at: moment)
            #expect(await world.arrivals() == [moment])
            if step == 1 { world.camera.tellTracks([.vp8, .linear]) }
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
        for policy in [
            OutputPolicy(hardPrivacy: true), OutputPolicy(softRecordingPrivacy: true, softLivestreamPrivacy: true),
        ] {
            let world = try World()
            defer { world.relay.stop() }
            world.camera.tellTracks([.vp8])
            await world.station.setOutputs(policy)
            world.station.waitUntilSettled()
            #expect(world.camera.runs == (1, 1))
            #expect(world.station.snapshot.reason?.contains("privacy") == true)
            await world.station.setOutputs(on)
            world.station.waitUntilSettled()
            #expect(world.camera.runs == (2, 1))
        }
    }
}
