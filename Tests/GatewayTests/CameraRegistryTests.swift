import Cameras
import DTLS
import DatagramPort
import HomeFakes
import HomeHub
import HomeTypes
import Logging
import MediaRelay
import RTP
import SDP
import Testing
import Transport

@testable import Gateway
@testable import Signalling

/// The registry on a real relay: what changes, and what is not disturbed by it.
@Suite struct CameraRegistryTests {
    typealias Camera = GatewayConfiguration.Camera

    let relay: MediaRelay
    let liveView: LiveViewService
    let registry: CameraRegistry
    let made = Locked<[TestSource]>([])

    init() throws {
        self.relay = try MediaRelay(port: UDPPort(.loopback()))
        self.liveView = LiveViewService(
            configuration: .init(identity: try DTLSIdentity.generate(), limits: SessionLimits(), addresses: []),
            relay: self.relay)
        let made = self.made
        self.registry = CameraRegistry(
            liveView: self.liveView, relay: self.relay, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { camera throws(SourceMaker.Failure) in
            switch camera.source {
            case .builtInDoorbell: return BuiltInCamera(BuiltInCamera.Configuration(name: camera.name))
            case .rtsp(let url):
                let source = TestSource(url)
                made.withLock { $0.append(source) }
                return source
            case .builtInSilent, .onvif, .whip: throw SourceMaker.Failure(description: "no such camera here")
            }
        }
    }

    func camera(_ id: String, _ number: Int = 0, name: String? = nil) -> Camera {
        Camera(id: id, name: name ?? id, kind: .camera, source: .rtsp("rtsp://192.0.2.1/\(number)"))
    }

    var source: (String) -> TestSource? {
        { url in self.made.withLock { $0.last { $0.url == url } } }
    }

    @Test func fiftyChangesOfOtherCamerasCostAStreamNoPacket() async throws {
        let door = Camera(id: "door", name: "Door", kind: .doorbell, source: .builtInDoorbell)
        _ = await self.registry.apply([door])
        let tap = ContinuityTap()
        // The tracks are there once the camera has told them.
        let station = try #require(await self.registry.stations.first)
        await self.waitUntilFlowing(station)
        self.relay.addTap(tap, to: TrackID(camera: "door", index: 0))
        await tap.waitForPackets(10)

        for round in 0..<50 {
            _ = await self.registry.apply([door, self.camera("a", round)])
            _ = await self.registry.apply([self.camera("b", round), door, self.camera("a", round + 1)])
            self.source("rtsp://192.0.2.1/\(round)")?.tell(.tracks([.init(kind: .video, codec: .vp8, payloadType: 96)]))
            _ = await self.registry.apply([door, self.camera("b", round, name: "B")])
            _ = await self.registry.apply([door])
        }
        await tap.waitForPackets(10)
        #expect(tap.gaps == 0)
        #expect(!tap.wasInterrupted)
        #expect(self.made.withLock { $0.allSatisfy { !$0.isRunning } })
        #expect(self.made.withLock { $0.count } == 150)
        await self.registry.stopAll()
        self.relay.stop()
        #expect(tap.hasEnded)
    }

    @Test func aRenamedCameraIsNotTouchedAndAChangedOneGetsAnotherSourceUnderItsTracks() async throws {
        _ = await self.registry.apply([self.camera("a", 1)])
        let first = try #require(self.source("rtsp://192.0.2.1/1"))
        let station = try #require(await self.registry.stations.first)
        let track = TrackDescription(kind: .video, codec: .vp8, payloadType: 96)
        first.tell(.tracks([track]))
        let tap = ContinuityTap()
        self.relay.addTap(tap, to: TrackID(camera: "a", index: 0))

        let renamed = await self.registry.apply([self.camera("a", 1, name: "Yard")])
        #expect(renamed.changed == ["a"] && renamed.drivers.isEmpty)
        #expect(first.isRunning && self.made.withLock { $0.count } == 1)

        let changed = await self.registry.apply([self.camera("a", 2, name: "Yard")])
        #expect(changed.changed == ["a"] && changed.drivers.isEmpty)
        let second = try #require(self.source("rtsp://192.0.2.1/2"))
        #expect(!first.isRunning && second.isRunning)
        #expect(await self.registry.stations.first === station)
        // The same tracks again: who follows them stays.
        second.tell(.tracks([track]))
        _ = await self.relay.counters()
        #expect(tap.wasInterrupted && !tap.hasEnded)
        // Others: they end.
        second.tell(.tracks([.init(kind: .video, codec: .h264(profileLevelID: "42e01f"), payloadType: 96)]))
        _ = await self.relay.counters()
        #expect(tap.hasEnded)
        await self.registry.stopAll()
        self.relay.stop()
    }

    @Test func aCameraThatCannotBeMadeIsShownWithItsReasonAndHarmsNoOther() async throws {
        let broken = Camera(id: "phone", name: "Phone", kind: .camera, source: .whip)
        let changes = await self.registry.apply([broken, self.camera("a")])
        #expect(changes.added == ["phone", "a"])
        #expect(self.source("rtsp://192.0.2.1/0")?.isRunning == true)
        let driver = try #require(changes.drivers.first { $0.deviceID == "phone" })
        for await update in driver.updates() {
            #expect(update == .source(.init(state: .stopped, reason: "no such camera here")))
        }
        // It is not tried again until it changes, and then it works.
        #expect(await self.registry.apply([broken, self.camera("a")]).isEmpty)
        let repaired = await self.registry.apply([self.camera("phone", 7), self.camera("a")])
        #expect(repaired.drivers.map(\.deviceID) == ["phone"])
        #expect(self.source("rtsp://192.0.2.1/7")?.isRunning == true)
        await self.registry.stopAll()
        self.relay.stop()
    }

    @Test func aPressWakesTheBuiltInDoorbellThatRests() async throws {
        var door = Camera(id: "door", name: "Door", kind: .doorbell, source: .builtInDoorbell)
        door.pull = .onDemand
        let changes = await self.registry.apply([door])
        let station = try #require(await self.registry.stations.first)
        #expect(station.snapshot.state == .idle)
        try await #require(changes.drivers.first).press()
        await self.waitUntilFlowing(station)
        await self.registry.stopAll()
        self.relay.stop()
    }

    @Test func aStationGoesWithItsCameraThoughItsUpdatesWereFollowed() async throws {
        /// Makes a station, follows it, and keeps nothing but the stream.
        func follow() -> (station: WeakStation, updates: AsyncStream<CameraUpdate>) {
            let source = ReplaceableSource(TestSource("rtsp://192.0.2.1/"))
            let station = CameraStation(id: "a", source: source, relay: self.relay)
            let driver = StationDriver(
                station: station, source: source, events: CameraEvents(self.camera("a"), station: station), run: "r")
            return (WeakStation(station), driver.updates())
        }
        let followed = follow()
        #expect(followed.station.value == nil)
        for await update in followed.updates {
            #expect(update == .source(.init(state: .idle)))
            break
        }
        self.relay.stop()
    }

    @Test func aRemovedCameraLeavesNoStationBehind() async throws {
        let hub = HomeHub(devices: [], drivers: [], liveView: FakeLiveView())
        let following = Task { await hub.run() }
        /// Adds a camera to the registry and the home, and keeps nothing of it.
        func add(_ camera: Camera) async -> WeakStation? {
            let changes = await self.registry.apply([camera])
            await hub.setDevices([.init(id: "a", name: "a", kind: .camera)], drivers: changes.drivers)
            return await self.registry.stations.first.map { WeakStation($0) }
        }
        let first = try #require(await add(self.camera("a", 1)))
        self.source("rtsp://192.0.2.1/1")?.tell(.tracks([.init(kind: .video, codec: .vp8, payloadType: 96)]))
        var restarted = self.camera("a", 2)
        restarted.pull = .onDemand
        let second = try #require(await add(restarted))
        #expect(second.value != nil)
        try await self.waitUntilGone(first)
        _ = await self.registry.apply([])
        await hub.setDevices([], drivers: [])
        try await self.waitUntilGone(second)
        following.cancel()
        self.relay.stop()
    }

    @Test func whoFollowsNoMoreIsNotCalledAnyMore() async throws {
        let source = ReplaceableSource(TestSource("rtsp://192.0.2.1/"))
        let station = CameraStation(id: "a", source: source, relay: self.relay)
        let driver = StationDriver(
            station: station, source: source, events: CameraEvents(self.camera("a"), station: station), run: "r")
        func follow() async {
            for await _ in driver.updates() { break }
        }
        for _ in 0..<3 { await follow() }
        #expect(station.state.withLock { $0.observers.isEmpty })
        let updates = driver.updates()
        station.handle(.state(.connecting))
        var states: [CameraSourceState] = []
        for await case .source(let status) in updates {
            states.append(status.state)
            if states.count == 2 { break }
        }
        #expect(states == [.idle, .connecting])
        self.relay.stop()
    }

    /// A camera that encodes needs real time for its first picture.
    private func waitUntilFlowing(_ station: CameraStation) async {
        let (events, continuation) = AsyncStream.makeStream(of: Void.self)
        let observer = station.observe { _ in continuation.yield() }
        // It may flow already.
        continuation.yield()
        for await _ in events where station.snapshot.state == .flowing { break }
        station.stopObserving(observer)
    }

    /// Nobody is told when the last thread lets go: the relay is asked something, again and again, which gives it time.
    private func waitUntilGone(_ station: WeakStation) async throws {
        for _ in 0..<100_000 where station.value != nil { _ = await self.relay.counters() }
        try #require(station.value == nil)
    }
}

/// Keeps no station.
struct WeakStation {
    weak var value: CameraStation?

    init(_ station: CameraStation) { self.value = station }
}

/// A source that does what a test tells it.
final class TestSource: CameraSource {
    let url: String
    private let sink = Locked<(any CameraSink)?>(nil)

    init(_ url: String) { self.url = url }

    var isRunning: Bool { self.sink.withLock { $0 != nil } }
    var speaker: (any CameraSpeaker)? { nil }

    func start(sink: any CameraSink) { self.sink.withLock { $0 = sink } }
    func stop() { self.sink.withLock { $0 = nil } }
    func requestKeyFrame(track: Int) {}
    func tell(_ event: CameraEvent) { self.sink.withLock { $0 }?.handle(event) }
}

/// Counts the packets of a track and looks whether one is missing.
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

    var gaps: Int { self.state.withLock { $0.gaps } }
    var wasInterrupted: Bool { self.state.withLock { $0.wasInterrupted } }
    var hasEnded: Bool { self.state.withLock { $0.hasEnded } }

    func receive(_ batch: TappedBatch) {
        let count = batch.batch.packets.count
        let first = batch.sequence(of: batch.firstPacket)
        let last = batch.sequence(of: count - 1)
        let waiter = self.state.withLock { state -> CheckedContinuation<Void, Never>? in
            if let next = state.next, next != first { state.gaps += 1 }
            state.next = last + 1
            state.packets += count - batch.firstPacket
            guard let waiter = state.waiter, state.packets >= waiter.goal else { return nil }
            state.waiter = nil
            return waiter.continuation
        }
        waiter?.resume()
    }

    func trackRestarted() { self.state.withLock { $0.wasInterrupted = true } }

    func trackEnded() {
        let waiter = self.state.withLock { state in
            state.hasEnded = true
            defer { state.waiter = nil }
            return state.waiter?.continuation
        }
        waiter?.resume()
    }

    /// Waits for so many more packets, or the track's end.
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
