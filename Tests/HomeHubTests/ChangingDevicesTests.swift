import Foundation
import HomeFakes
import HomeTypes
import Testing
import Transport

@testable import HomeHub

@Suite struct ChangingDevicesTests {
    let door = FakeCamera("door")
    let yard = FakeCamera("yard")

    func makeHub() -> HomeHub {
        HomeHub(
            devices: [device("door"), device("yard")], drivers: [door, yard],
            signalling: FakeLiveView().services, now: { Date(timeIntervalSince1970: 1_000) })
    }

    func device(_ id: String, _ name: String? = nil) -> DeviceDescription {
        DeviceDescription(id: id, name: name ?? id, kind: .camera)
    }

    @Test func exactlyWhatChangedIsReported() async throws {
        let hub = makeHub()
        var events = try await hub.changes(principal: "owner").makeAsyncIterator()
        for _ in 0..<3 { _ = await events.next() }
        let changes = await hub.setDevices(
            [device("porch"), device("door", "Front door")], drivers: [FakeCamera("porch")])
        #expect(changes.added == ["porch"] && changes.changed == ["door"] && changes.removed == ["yard"])
        #expect(await hub.devices().map(\.id) == ["porch", "door"])
        guard case .deviceRemoved("yard")? = await events.next()?.change else { throw Unexpected() }
        guard case .deviceAdded(let porch)? = await events.next()?.change else { throw Unexpected() }
        #expect(porch.id == "porch" && porch.connectivityState == .unknown)
        guard case .device(let door)? = await events.next()?.change else { throw Unexpected() }
        #expect(door.name == "Front door")
        await #expect(throws: HomeError.self) { try await hub.device("yard") }

        // The same list again is not a change.
        let again = await hub.setDevices([device("porch"), device("door", "Front door")], drivers: [])
        #expect(again == HomeHub.DeviceChanges())
    }

    @Test func `a name that is being changed while devices are set reaches observers`() async throws {
        let hub = makeHub()
        await hub.setDevices([device("door"), device("yard")], drivers: [])
        var events = try await hub.changes(principal: "owner").makeAsyncIterator()
        for _ in 0..<3 { _ = await events.next() }
        // The directory has the new name, and the rename has not reported it yet.
        try await hub.directory.perform { (home) throws(HomeError) in
            _ = try home.moveDevice("door", name: .value("Front door"), room: .unchanged, structure: nil)
        }
        await hub.setDevices([device("door"), device("yard")], drivers: [])
        await hub.readDirectory()
        guard case .device(let door)? = await events.next()?.change else { throw Unexpected() }
        #expect(door.id == "door" && door.name == "Front door")
    }

    @Test func `a camera on demand is online while it rests, unless it could not be reached`() async throws {
        func connectivity(_ states: [CameraSourceState], isOnDemand: Bool) -> ConnectivityState {
            var camera = CameraState(isConnected: true)
            for state in states { camera.update(CameraSourceStatus(state: state), isOnDemand: isOnDemand) }
            return camera.connectivity
        }
        #expect(connectivity([.idle], isOnDemand: true) == .online)
        #expect(connectivity([.idle, .connecting, .flowing, .idle], isOnDemand: true) == .online)
        #expect(connectivity([.idle, .connecting, .backingOff, .idle], isOnDemand: true) == .offline)
        #expect(connectivity([.connecting], isOnDemand: true) == .unknown)
        #expect(connectivity([.idle], isOnDemand: false) == .unknown)
    }

    @Test func `a device is offline for as long as it was not found, also across a restart`() async throws {
        let store = MemoryStore()
        let time = Locked(Date(timeIntervalSince1970: 1_000))
        func start() async -> HomeHub {
            let hub = HomeHub(
                devices: [], drivers: [], signalling: FakeLiveView().services, log: ChangeLog(store),
                now: { time.withLock { $0 } })
            // A camera without a driver is offline.
            await hub.setDevices([device("door")], drivers: [])
            return hub
        }
        let first = await start()
        #expect(await first.daysOffline() == ["door": 0])
        time.withLock { $0 += 8 * 86_400 }
        #expect(await first.daysOffline() == ["door": 8])
        first.log.flush()
        let second = await start()
        #expect(await second.daysOffline() == ["door": 8])
        await second.setDevices([device("door")], drivers: [door])
        await second.apply(FakeCamera.flowing, deviceID: "door")
        #expect(await second.daysOffline().isEmpty)
    }

    @Test func aRenamedDeviceKeepsItsCameraAndItsState() async throws {
        let hub = makeHub()
        await hub.apply(FakeCamera.flowing, deviceID: "door")
        await hub.setDevices([device("door", "Front door"), device("yard")], drivers: [])
        let door = try await hub.device("door")
        #expect(door.name == "Front door" && door.connectivityState == .online && door.source?.state == .flowing)
    }

    @Test func aCameraThatComesLaterIsFollowedAndOneThatWasReplacedIsNot() async throws {
        let hub = makeHub()
        let running = Task { await hub.run() }
        var events = try await hub.changes(principal: "owner").makeAsyncIterator()
        for _ in 0..<3 { _ = await events.next() }
        yard.send(FakeCamera.flowing)
        guard case .device(let first)? = await events.next()?.change, first.id == "yard" else { throw Unexpected() }

        let (porch, other) = (FakeCamera("porch"), FakeCamera("yard"))
        await hub.setDevices([device("yard"), device("porch")], drivers: [porch, other])
        guard case .deviceRemoved("door")? = await events.next()?.change else { throw Unexpected() }
        guard case .device(let reset)? = await events.next()?.change else { throw Unexpected() }
        #expect(reset.id == "yard" && reset.source?.state == .idle)
        guard case .deviceAdded? = await events.next()?.change else { throw Unexpected() }

        yard.send(.source(.init(state: .stalled)))
        door.send(FakeCamera.flowing)
        porch.send(FakeCamera.flowing)
        guard case .device(let second)? = await events.next()?.change else { throw Unexpected() }
        #expect(second.id == "porch" && second.source?.state == .flowing)
        other.send(FakeCamera.flowing)
        guard case .device(let third)? = await events.next()?.change else { throw Unexpected() }
        #expect(third.id == "yard" && third.source?.state == .flowing)
        running.cancel()
        await running.value
    }

    struct Unexpected: Error {}
}
