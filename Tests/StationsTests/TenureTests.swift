import Cameras
import MediaRelay
import SDP
import StationFakes
import Testing
import Transport

@testable import Stations

/// A gateway acts for a device only under a tenure.
@Suite struct TenureTests {
    private let clock = Locked(Instant(nanoseconds: 1_000_000_000))
    private let coordinator = FakeCoordinator()

    private var tenures: Tenures { Tenures(coordinator, now: { [clock] in clock.withLock { $0 } }) }

    private func pass(_ duration: Duration) { clock.withLock { $0 += duration } }

    private static func camera(_ pull: PullMode = .always) -> CameraSettings {
        var settings = CameraSettings(id: "door", name: "Door", source: .rtsp("rtsp://192.0.2.1/1"))
        settings.pull = pull
        return settings
    }

    @Test func `a home with one gateway has every device at once and for good`() async throws {
        let tenures = Tenures(LocalCoordinator { 7 })
        try await tenures.take("door")
        #expect(tenures.mayAct(for: "door") && tenures.epoch(of: "door") == 7)
        #expect(tenures.mayAct(for: "a lamp that nobody asks for"))
    }

    @Test func `a source is not even made while another gateway runs the camera`() async throws {
        let tenures = tenures
        let world = try RegistryWorld(tenures: tenures)
        let changes = try #require(await world.registry.apply([Self.camera()]))
        #expect(changes.failed.map(\.reason) == ["another gateway of the home runs door"])
        #expect(world.made.withLock { $0.isEmpty } && !tenures.mayAct(for: "door"))
        #expect(await world.registry.camera("door") == nil)
        world.relay.stop()
    }

    @Test func `a camera that goes away is given back after its source has stopped`() async throws {
        coordinator.grant(until: .distantFuture)
        let world = try RegistryWorld(tenures: tenures)
        _ = await world.registry.apply([Self.camera()])
        #expect(world.source("rtsp://192.0.2.1/1")?.isRunning == true && coordinator.released.isEmpty)
        _ = await world.registry.apply([])
        #expect(coordinator.released.map(\.device) == ["door"] && coordinator.released.map(\.epoch) == [1])
        // Its next tenure has a greater epoch.
        _ = await world.registry.apply([Self.camera()])
        await world.registry.stopAll()
        #expect(coordinator.released.map(\.epoch) == [1, 2])
        world.relay.stop()
    }

    @Test func `a camera that cannot be made is given back at once`() async throws {
        coordinator.grant(until: .distantFuture)
        let tenures = tenures
        let world = try RegistryWorld(tenures: tenures)
        let unusable = CameraSettings(id: "door", name: "Door", source: .published)
        let changes = try #require(await world.registry.apply([unusable]))
        #expect(changes.failed.map(\.reason) == ["no such camera here"])
        #expect(coordinator.released.map(\.device) == ["door"] && tenures.epoch(of: "door") == nil)
        // Nothing is left to give back.
        _ = await world.registry.apply([])
        await world.registry.stopAll()
        #expect(coordinator.released.map(\.epoch) == [1])
        world.relay.stop()
    }

    @Test func `nothing begins after the end of a tenure, until it is renewed`() async throws {
        let tenures = tenures
        coordinator.grant(until: clock.withLock { $0 } + .seconds(10))
        let world = try RegistryWorld(tenures: tenures)
        _ = await world.registry.apply([Self.camera(.onDemand)])
        let station = try #require(await world.registry.camera("door")?.station)
        let source = try #require(world.source("rtsp://192.0.2.1/1"))
        let permit = try station.permit(for: .recording, owner: "a test", revoked: nil)
        try permit.check()
        #expect(permit.mayAct)

        pass(.seconds(11))
        #expect(!permit.mayAct)
        let gone = StationError.runsElsewhere(camera: "door")
        #expect(throws: gone) { try permit.check() }
        #expect(throws: gone) { _ = try station.permit(for: .liveView, owner: "a viewer", revoked: nil) }
        #expect(throws: gone) { try station.checkTenure() }
        let late = station.hold(for: .liveView)
        station.waitUntilSettled()
        #expect(!source.isRunning)

        tenures.renew(Tenure(device: "door", epoch: 1, deadline: clock.withLock { $0 } + .seconds(10)))
        try permit.check()
        let hold = station.hold(for: .liveView)
        station.waitUntilSettled()
        #expect(source.isRunning)
        hold.end()
        late.end()
        await world.registry.stopAll()
        world.relay.stop()
    }

    @Test func `a renewal of an older epoch comes too late`() async throws {
        let tenures = tenures
        coordinator.grant(until: .distantFuture)
        try await tenures.take("door")
        try await tenures.take("door")
        tenures.renew(Tenure(device: "door", epoch: 1, deadline: Instant(nanoseconds: 1)))
        #expect(tenures.mayAct(for: "door") && tenures.epoch(of: "door") == 2)
    }
}
