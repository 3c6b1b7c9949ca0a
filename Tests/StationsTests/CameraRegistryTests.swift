import Cameras
import DatagramPort
import MediaRelay
import RTP
import SDP
import StationFakes
import Testing
import Transport

@testable import Stations

/// The registry on a real relay: which cameras change, and which are left alone.
@Suite struct CameraRegistryTests {
    typealias Camera = CameraSettings

    let world: RegistryWorld
    var relay: MediaRelay { world.relay }
    var registry: CameraRegistry { world.registry }

    init() throws { world = try RegistryWorld() }

    func camera(_ id: String, _ number: Int = 0, name: String? = nil) -> Camera {
        Camera(id: id, name: name ?? id, source: .rtsp("rtsp://192.0.2.1/\(number)"))
    }

    @Test func fiftyChangesOfOtherCamerasCostAStreamNoPacket() async throws {
        let door = Camera(id: "door", name: "Door", isDoorbell: true, source: .builtInDoorbell)
        _ = await registry.apply([door])
        let tap = ContinuityTap()
        // The tracks exist once the camera has announced them.
        let station = try #require(await registry.running.first?.station)
        await world.waitUntilFlowing(station)
        relay.addTap(tap, to: TrackID(camera: "door", index: 0))
        await tap.waitForPackets(10)

        for round in 0..<50 {
            _ = await registry.apply([door, camera("a", round)])
            _ = await registry.apply([camera("b", round), door, camera("a", round + 1)])
            world.source("rtsp://192.0.2.1/\(round)")?.open([.init(kind: .video, codec: .vp8, payloadType: 96)])
            _ = await registry.apply([door, camera("b", round, name: "B")])
            _ = await registry.apply([door])
        }
        await tap.waitForPackets(10)
        #expect(tap.gaps == 0)
        #expect(!tap.wasInterrupted)
        #expect(world.made.withLock { $0.allSatisfy { !$0.isRunning } })
        #expect(world.made.withLock { $0.count } == 150)
        await registry.stopAll()
        relay.stop()
        #expect(tap.hasEnded)
    }

    @Test func aRenamedCameraIsNotTouchedAndAChangedOneGetsAnotherSourceUnderItsTracks() async throws {
        _ = await registry.apply([camera("a", 1)])
        let first = try #require(world.source("rtsp://192.0.2.1/1"))
        let station = try #require(await registry.running.first?.station)
        let track = TrackDescription(kind: .video, codec: .vp8, payloadType: 96)
        first.open([track])
        let tap = ContinuityTap()
        relay.addTap(tap, to: TrackID(camera: "a", index: 0))

        let renamed = try #require(await registry.apply([camera("a", 1, name: "Yard")]))
        #expect(renamed.changed == ["a"] && renamed.begun.isEmpty)
        #expect(first.isRunning && world.made.withLock { $0.count } == 1)

        let changed = try #require(await registry.apply([camera("a", 2, name: "Yard")]))
        #expect(changed.changed == ["a"] && changed.begun.isEmpty)
        let second = try #require(world.source("rtsp://192.0.2.1/2"))
        #expect(!first.isRunning && second.isRunning)
        #expect(await registry.running.first?.station === station)
        // The same tracks again: their readers stay.
        second.open([track])
        _ = await relay.counters()
        #expect(tap.wasInterrupted && !tap.hasEnded)
        // Other tracks: their readers end.
        second.open([.init(kind: .video, codec: .h264(profileLevelID: "42e01f"), payloadType: 96)])
        _ = await relay.counters()
        #expect(tap.hasEnded)
        await registry.stopAll()
        relay.stop()
    }

    /// Whoever waits for a first picture of the new camera would be shown one of the other, and so would a snapshot.
    @Test(arguments: [true, false])
    func `pictures of the camera at the former address are shown to nobody, and stay where only the transport changes`(
        isElsewhere: Bool
    ) async throws {
        _ = await registry.apply([camera("a", 1)])
        let source = try #require(world.source("rtsp://192.0.2.1/1"))
        source.open([TrackDescription(kind: .video, codec: .vp8, payloadType: 96)])
        let pictures = CodedPictures.batches([.init(place: 0, payloads: [[1, 2, 3]])]) { _ in MonotonicClock.now }
        source.deliver(try #require(pictures.first))
        let track = TrackID(camera: "a", index: 0)
        let early = ContinuityTap()
        relay.addTap(early, to: track, from: .newestKeyFrame)
        #expect(await eventually { early.packets == 1 })
        var changed = camera("a", isElsewhere ? 2 : 1)
        if !isElsewhere { changed.transport = .tcp }
        _ = await registry.apply([changed])
        #expect(!source.isRunning && world.made.withLock { $0.count } == 2)
        let late = ContinuityTap()
        relay.addTap(late, to: track, from: .newestKeyFrame)
        _ = await relay.counters()
        #expect(late.packets == (isElsewhere ? 0 : 1))
        #expect(early.wasInterrupted == isElsewhere && !early.hasEnded)
        await registry.stopAll()
        relay.stop()
    }

    /// The last good picture is given out while video is damaged.
    @Test(arguments: [true, false])
    func `a snapshot never shows the camera at the former address`(isElsewhere: Bool) async throws {
        _ = await registry.apply([camera("a", 1)])
        let station = try #require(await registry.running.first?.station)
        let track = TrackDescription(
            kind: .video, codec: MediaCodec(name: "JPEG", clockRate: 90_000), payloadType: 96)
        let pictures = try CodedPictures.jpeg()
        let good = CodedPictures.batches(pictures) { _ in MonotonicClock.now }
        let former = try #require(world.source("rtsp://192.0.2.1/1"))
        former.open([track])
        former.deliver(try #require(good.first))
        let shown = try await station.snapshot().jpeg
        var changed = camera("a", isElsewhere ? 2 : 1)
        if !isElsewhere { changed.transport = .tcp }
        _ = await registry.apply([changed])
        let other = try #require(world.made.withLock { $0.last })
        #expect(other !== former)
        other.open([track])
        let damaged = CodedPictures.batches([.init(place: 1, payloads: [[0, 0, 0, 0, 1, 255]])]) { _ in
            MonotonicClock.now
        }
        other.deliver(try #require(damaged.first))
        let again = try? await station.snapshot().jpeg
        #expect(again == (isElsewhere ? nil : shown))
        await registry.stopAll()
        relay.stop()
    }

    /// Nobody else reports the end: a recording of this motion would go on and on.
    @Test(arguments: ["other events", "another pull", "removed"])
    func whatSensorsReportedEndsWithTheEventsOfACamera(change: String) async throws {
        var yard = camera("yard")
        _ = await registry.apply([yard])
        let running = try #require(await registry.running.first)
        let phases = Locked<[CameraDetection.Phase]>([])
        _ = running.station.observe { event in
            if case .detection(let detection) = event { phases.withLock { $0.append(detection.phase) } }
        }
        let motion = SensorReading(subject: .detection(.motion), sensor: "a", isActive: true)
        #expect(running.events.take(motion))
        #expect(phases.withLock { $0 } == [.began])
        switch change {
        case "other events": yard.isDoorbell = true
        case "another pull": yard.pull = .onDemand
        default: break
        }
        _ = await registry.apply(change == "removed" ? [] : [yard])
        #expect(phases.withLock { $0 } == [.began, .ended])
        // Somebody who still has them, as a report that is on its way.
        #expect(!running.events.take(motion))
        #expect(phases.withLock { $0 }.count == 2)
        await registry.stopAll()
        relay.stop()
    }

    @Test func aCameraThatCannotBeMadeIsShownWithItsReasonAndHarmsNoOther() async throws {
        let broken = Camera(id: "phone", name: "Phone", source: .published)
        let changes = try #require(await registry.apply([broken, camera("a")]))
        #expect(changes.added == ["phone", "a"])
        #expect(world.source("rtsp://192.0.2.1/0")?.isRunning == true)
        #expect(changes.failed.map(\.id) == ["phone"] && changes.failed.first?.reason == "no such camera here")
        #expect(changes.begun.map(\.station.id) == ["a"])
        // It is not tried again until it changes, and then it works.
        let again = try #require(await registry.apply([broken, camera("a")]))
        #expect(again.added.isEmpty && again.changed.isEmpty && again.failed.isEmpty)
        let repaired = try #require(await registry.apply([camera("phone", 7), camera("a")]))
        #expect(repaired.begun.map(\.station.id) == ["phone"])
        #expect(world.source("rtsp://192.0.2.1/7")?.isRunning == true)
        await registry.stopAll()
        relay.stop()
    }

    @Test func theNextStationOfACameraFindsTheSwitchesAsTheyWere() async throws {
        let registry = CameraRegistry(
            users: [], relay: relay, transcoding: TranscodingBudget(cores: 2),
            savedOutputs: { $0 == "a" ? OutputPolicy(isOn: false) : OutputPolicy() }
        ) { _ throws(SourceMaker.Failure) in TestSource("rtsp://192.0.2.1/0") }
        func refusals() async -> [String: OutputRefusal?] {
            var result: [String: OutputRefusal?] = [:]
            for camera in await registry.running {
                result[camera.station.id] = .some(camera.station.outputs.refusal(of: .liveView))
            }
            return result
        }
        _ = await registry.apply([self.camera("a"), self.camera("b")])
        #expect(await refusals() == ["a": .off, "b": nil])
        await registry.setOutputs(OutputPolicy(), of: "a")
        await registry.setOutputs(OutputPolicy(hardPrivacy: true), of: "b")
        #expect(await refusals() == ["a": nil, "b": .hardPrivacy])
        // What viewers were promised changes, so the cameras restart.
        var (a, b) = (self.camera("a"), self.camera("b"))
        a.pull = .onDemand
        b.pull = .onDemand
        let stations = await registry.running.map(\.station)
        _ = await registry.apply([a, b])
        #expect(await !zip(registry.running, stations).contains { $0.station === $1 })
        #expect(await refusals() == ["a": nil, "b": .hardPrivacy])
        // One that was removed begins with what was saved.
        _ = await registry.apply([b])
        _ = await registry.apply([a, b])
        #expect(await refusals() == ["a": .off, "b": .hardPrivacy])
        await registry.stopAll()
        relay.stop()
    }
}

/// Counts the packets of a track, and the gaps between them.
final class ContinuityTap: TrackTap {
    private struct State {
        var packets = 0
        var gaps = 0
        var next: Int64?
        var wasInterrupted = false
        var hasEnded = false
        var waiter: (goal: Int, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state = Locked(State())

    var packets: Int { state.withLock { $0.packets } }
    var gaps: Int { self.state.withLock { $0.gaps } }
    var wasInterrupted: Bool { state.withLock { $0.wasInterrupted } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    func receive(_ batch: TappedBatch) {
        let count = batch.batch.packets.count
        let first = batch.sequence(of: batch.firstPacket)
        let last = batch.sequence(of: count - 1)
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if let next = state.next, next != first { state.gaps += 1 }
            state.next = last + 1
            state.packets += count - batch.firstPacket
            guard let waiter = state.waiter, state.packets >= waiter.goal else { return nil }
            state.waiter = nil
            return waiter.continuation
        }
        waiter?.resume()
    }

    func trackRestarted() { state.withLock { $0.wasInterrupted = true } }

    func trackEnded() {
        let waiter = state.withLock { state in
            state.hasEnded = true
            defer { state.waiter = nil }
            return state.waiter?.continuation
        }
        waiter?.resume()
    }

    /// Waits for a number of further packets, or for the end of the track.
    func waitForPackets(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isOver = self.state.withLock { state in
                if state.hasEnded { return true }
                state.waiter = (state.packets + count, continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}
