import Cameras
import DatagramPort
import Glibc
import HomeFakes
import HomeHub
import HomeTypes
import Logging
import MediaRelay
import SDP
import StationFakes
import Synchronization
import Testing
import Transport

@testable import Gateway
@testable import Stations

/// The cameras of the config as the home sees them, on a real relay.
@Suite struct StationDriverTests {
    typealias Camera = GatewayConfiguration.Camera

    let world: RegistryWorld
    let cameras: ConfiguredCameras
    var relay: MediaRelay { world.relay }
    var registry: CameraRegistry { world.registry }

    init() throws {
        world = try RegistryWorld()
        cameras = ConfiguredCameras(
            registry: world.registry, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    func camera(_ id: String, _ number: Int = 0) -> Camera {
        Camera(id: id, name: id, kind: .camera, source: .rtsp("rtsp://192.0.2.1/\(number)"))
    }

    @Test func aCameraThatCannotBeMadeIsShownWithItsReason() async throws {
        let changes = await cameras.apply([Camera(id: "phone", name: "Phone", kind: .camera, source: .publisher)])
        #expect(changes.added == ["phone"])
        let driver = try #require(changes.drivers.first { $0.deviceID == "phone" })
        for await update in driver.updates() {
            #expect(update == .source(.init(state: .stopped, reason: "no such camera here", cause: .other)))
        }
        relay.stop()
    }

    @Test func aStatusHasItsCause() {
        func cause(_ state: SourceState, _ refusal: OutputRefusal? = nil) -> CameraSourceCause? {
            var snapshot = CameraStation.Snapshot(state: state, tracks: [])
            snapshot.reason = refusal.map { .refused($0) }
            return CameraSourceStatus(snapshot).cause
        }
        let failure = CameraFailure.passwordWithheld(address: "")
        #expect(cause(.backingOff(seconds: 3, reason: failure)) == .passwordWithheld)
        #expect(cause(.givenUp(until: .distantFuture, failures: 9, reason: failure)) == .passwordWithheld)
        #expect(cause(.backingOff(seconds: 0, reason: .noPublisher(after: nil))) == .noPublisher)
        #expect(cause(.stalled(track: 0)) == .silent)
        for state in [SourceState.idle, .connecting, .flowing, .stopped] { #expect(cause(state) == nil) }
        for refusal in OutputRefusal.allCases {
            #expect(cause(.idle, refusal) == (refusal == .off ? .switchedOff : .privacy))
        }
        // Each kind of failure has a cause of its own.
        let causes = CameraFailure.Kind.allCases.map { CameraSourceCause($0) }
        #expect(Set(causes).count == causes.count)
        #expect(causes.map(\.rawValue) == CameraFailure.Kind.allCases.map { "\($0)" })
    }

    @Test func aStatusKeepsWhatDiffersWithEachAttemptApart() {
        func trouble(_ state: SourceState) -> SourceTrouble? {
            CameraSourceStatus(CameraStation.Snapshot(state: state, tracks: [])).trouble
        }
        let failure = CameraFailure.passwordWithheld(address: "")
        let reason = failure.words
        #expect(
            trouble(.backingOff(seconds: 2.2, reason: failure)) == SourceTrouble(reason, attempts: .next(seconds: 3)))
        #expect(trouble(.backingOff(seconds: 0, reason: failure)) == SourceTrouble(reason))
        #expect(
            trouble(.givenUp(until: .distantFuture, failures: 9, reason: failure))
                == SourceTrouble(reason, attempts: .failed(9)))
    }

    @Test func aPressWakesTheIdleBuiltInDoorbell() async throws {
        var door = Camera(id: "door", name: "Door", kind: .doorbell, source: .builtInDoorbell)
        door.pull = .onDemand
        let changes = await cameras.apply([door])
        let station = try #require(await registry.running.first?.station)
        #expect(station.snapshot.state == .idle)
        let driver = try #require(changes.drivers.first)
        try await world.waitUntilFlowing(station) { try await driver.press() }
        await registry.stopAll()
        relay.stop()
    }

    @Test func aStationGoesWithItsCameraEvenIfItsUpdatesWereFollowed() async throws {
        /// Makes a station, follows it, and keeps nothing but the stream.
        func follow() -> (station: WeakStation, updates: AsyncStream<CameraUpdate>) {
            let source = ReplaceableSource(TestSource("rtsp://192.0.2.1/"))
            let station = CameraStation(id: "a", source: source, relay: relay)
            let driver = StationDriver(
                station: station, source: source,
                events: CameraEvents(CameraSettings(camera("a")), station: station), run: "r")
            return (WeakStation(station), driver.updates())
        }
        let followed = follow()
        #expect(followed.station.value == nil)
        for await update in followed.updates {
            #expect(update == .source(.init(state: .idle)))
            break
        }
        relay.stop()
    }

    @Test func aRemovedCameraLeavesNoStationBehind() async throws {
        let hub = HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services)
        let following = Task { await hub.run() }
        /// Adds a camera to the registry and the home, and keeps nothing of it.
        func add(_ camera: Camera) async -> WeakStation? {
            let changes = await cameras.apply([camera])
            await hub.setDevices([.init(id: "a", name: "a", kind: .camera)], drivers: changes.drivers)
            return await registry.running.first.map(\.station).map { WeakStation($0) }
        }
        let first = try #require(await add(self.camera("a", 1)))
        world.source("rtsp://192.0.2.1/1")?.open([.init(kind: .video, codec: .vp8, payloadType: 96)])
        var restarted = self.camera("a", 2)
        restarted.pull = .onDemand
        let second = try #require(await add(restarted))
        #expect(second.value != nil)
        try await waitUntilGone(first)
        _ = await cameras.apply([])
        await hub.setDevices([], drivers: [])
        try await waitUntilGone(second)
        following.cancel()
        relay.stop()
    }

    /// A recording of a motion whose end the home does not hear of would go on until the camera is removed.
    @Test func `a motion ends for the home when other events take the place of its camera's`() async throws {
        let hub = HomeHub(devices: [], drivers: [], signalling: FakeLiveView().services)
        // It has no device to wait for yet, and follows those that come.
        await hub.run()
        var yard = camera("yard")
        /// As the gateway applies its config.
        func apply() async {
            let changes = await cameras.apply([yard])
            await hub.applyReports(of: changes.drivers.map(\.deviceID))
            await hub.setDevices([.init(id: "yard", name: "yard", kind: yard.kind)], drivers: changes.drivers)
        }
        await apply()
        for round in 0..<20 {
            let events = try #require(await registry.running.first?.events)
            #expect(events.take(SensorReading(subject: .detection(.motion), sensor: "a", isActive: true)))
            yard.kind = round.isMultiple(of: 2) ? .doorbell : .camera
            await apply()
            let kept = try await hub.events(of: "yard")
            #expect(kept.count == 2 * (round + 1))
            #expect(kept.prefix(2).map(\.phase) == [.ended, .began])
            // The stays of each camera's events have names of their own.
            #expect(Set(kept.map(\.eventSessionId)).count == round + 1)
            #expect(try await hub.device("yard").activeDetections == [])
        }
        await registry.stopAll()
        relay.stop()
    }

    @Test func aRemovedObserverIsNotCalledAgain() async throws {
        let source = ReplaceableSource(TestSource("rtsp://192.0.2.1/"))
        let station = CameraStation(id: "a", source: source, relay: relay)
        let driver = StationDriver(
            station: station, source: source, events: CameraEvents(CameraSettings(camera("a")), station: station),
            run: "r")
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
        relay.stop()
    }

    /// A camera that began to flow just while the home began to follow it stayed "setting up" until its next change.
    @Test func aChangeWhileTheUpdatesBeginIsNotLost() async throws {
        let rounds = 5_000
        let next = Locked<CameraStation?>(nil)
        let begun = Atomic(0)
        let changed = Atomic(0)
        let hasStarted = startDetachedThread(name: "camera") {
            for round in 1...rounds {
                while begun.load(ordering: .acquiring) < round { sched_yield() }
                next.withLock { $0.take() }?.handle(.state(.flowing))
                changed.store(round, ordering: .releasing)
            }
        }
        try #require(hasStarted)
        var lost = 0
        for round in 1...rounds {
            let source = ReplaceableSource(TestSource("rtsp://192.0.2.1/"))
            let station = CameraStation(id: "a", source: source, relay: relay)
            let driver = StationDriver(
                station: station, source: source,
                events: CameraEvents(CameraSettings(camera("a")), station: station), run: "r")
            next.withLock { $0 = station }
            begun.store(round, ordering: .releasing)
            // Each round begins to follow at another moment of the change.
            for _ in 0..<(round % 100) { _ = changed.load(ordering: .relaxed) }
            let updates = driver.updates()
            while changed.load(ordering: .acquiring) < round { sched_yield() }
            // Everything that was reported before comes before this.
            station.handle(.buttonPressed())
            var last: CameraSourceState?
            for await update in updates {
                if case .source(let status) = update { last = status.state }
                if case .doorbellPressed = update { break }
            }
            if last != .flowing { lost += 1 }
        }
        #expect(lost == 0)
        relay.stop()
    }

    /// Nothing reports when the last thread lets go. The test asks the relay something again and again, which gives it
    /// time.
    private func waitUntilGone(_ station: WeakStation) async throws {
        let isGone = await eventually {
            _ = await relay.counters()
            return station.value == nil
        }
        try #require(isGone)
    }
}

/// Keeps no station.
struct WeakStation {
    weak var value: CameraStation?

    init(_ station: CameraStation) { self.value = station }
}
