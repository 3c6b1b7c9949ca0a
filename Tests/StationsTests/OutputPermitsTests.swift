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
        // A change that did not wait for the other one would return now.
        for _ in 0..<1_000 { await Task.yield() }
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
        camera.reportTracks([.vp8])
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

    @Test func aPermitThatLastsForgetsTheTapsThatHaveGone() throws {
        let permits = OutputPermits(camera: "door")
        let permit = try permits.permit(for: .liveView, owner: "reader") { _ in }
        let track = TrackID(camera: "door", index: 0)
        let queue = TapQueue(limits: .init(duration: .seconds(60), overflow: .refuse))
        let kept = queue.makeTap(id: 1)
        permit.cover(kept, of: track)
        weak var gone: QueueTap?
        for number in 2...1_000 as ClosedRange<UInt64> {
            let tap = queue.makeTap(id: number)
            permit.cover(tap, of: track)
            gone = tap
        }
        let isGone = gone == nil
        #expect(isGone)
        // The one that stays, and the newest, which nothing has come after.
        #expect(permits.covered <= 2)
        withExtendedLifetime(kept) {}
        permit.end()
        #expect(permits.covered == 0)
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
