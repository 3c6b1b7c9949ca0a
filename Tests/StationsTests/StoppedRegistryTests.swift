import Cameras
import MediaRelay
import StationFakes
import Testing
import Transport

@testable import Stations

/// A registry that is stopped while it waits in the middle of a change.
@Suite struct StoppedRegistryTests {
    /// What the registry waits for when it is stopped.
    enum Moment: Sendable {
        /// The tenure of a new camera.
        case tenure
        /// What was saved about the outputs of a new camera.
        case outputs
        /// A service that uses the cameras adopts a new one.
        case addition
        /// A service gives a camera up that restarts.
        case removal
        /// A service gives the first of two cameras up that are removed.
        case removals
    }

    /// Stops a registry when it comes to a moment. It also grants tenures, and counts those that are not given back.
    private final class Stopper: Coordinator, StationUser {
        let registry = Locked<CameraRegistry?>(nil)
        let tenures = Locked(0)
        private let moment: Moment

        init(at moment: Moment) { self.moment = moment }

        func reach(_ reached: Moment) async {
            guard reached == moment, let registry = registry.withLock({ $0 }) else { return }
            await registry.stopAll()
        }

        func tenure(of device: String) async -> Tenure? {
            tenures.withLock { $0 += 1 }
            await reach(.tenure)
            return Tenure(device: device, epoch: 1, deadline: .distantFuture)
        }

        func release(_ tenure: Tenure) async { tenures.withLock { $0 -= 1 } }
        func add(_ station: CameraStation) async { await reach(.addition) }
        func remove(_ deviceID: String, because end: StationEnd) async {
            await reach(end == .removed ? .removals : .removal)
        }
    }

    private static func camera(_ id: String, _ pull: PullMode) -> CameraSettings {
        var settings = CameraSettings(id: id, name: id, source: .rtsp("rtsp://192.0.2.1/\(id)"))
        settings.pull = pull
        return settings
    }

    @Test(arguments: [Moment.tenure, .outputs, .addition, .removal])
    func `a change that was under way when the cameras were stopped starts nothing`(moment: Moment) async throws {
        let world = try RegistryWorld()
        let stopper = Stopper(at: moment)
        let sources = Locked<[TestSource]>([])
        let registry = CameraRegistry(
            users: [stopper], relay: world.relay, transcoding: TranscodingBudget(cores: 2),
            savedOutputs: { _ in
                await stopper.reach(.outputs)
                return OutputPolicy()
            }, tenures: Tenures(stopper)
        ) { camera throws(SourceMaker.Failure) in
            let source = TestSource(camera.id)
            sources.withLock { $0.append(source) }
            return source
        }
        stopper.registry.withLock { $0 = registry }
        // One that is only pulled on demand does not run yet.
        if moment == .removal { _ = await registry.apply([Self.camera("a", .onDemand)]) }
        let changes = await registry.apply([Self.camera("a", .always), Self.camera("b", .always)])
        #expect(changes == nil)
        #expect(sources.withLock { $0.allSatisfy { !$0.isRunning } })
        // Nothing was asked for the second camera, and what the first one had is free for another gateway.
        #expect(!sources.withLock { $0.contains { $0.url == "b" } })
        #expect(stopper.tenures.withLock { $0 } == 0)
        stopper.registry.withLock { $0 = nil }
        world.relay.stop()
    }

    @Test func `cameras that a change has yet to remove are stopped with the others`() async throws {
        let world = try RegistryWorld()
        let stopper = Stopper(at: .removals)
        let sources = Locked<[TestSource]>([])
        let registry = CameraRegistry(
            users: [stopper], relay: world.relay, transcoding: TranscodingBudget(cores: 2),
            savedOutputs: { _ in OutputPolicy() }, tenures: Tenures(stopper)
        ) { camera throws(SourceMaker.Failure) in
            let source = TestSource(camera.id)
            sources.withLock { $0.append(source) }
            return source
        }
        _ = await registry.apply(["a", "b", "c"].map { Self.camera($0, .always) })
        stopper.registry.withLock { $0 = registry }
        // The registry is stopped while it removes the first of two.
        _ = await registry.apply([Self.camera("c", .always)])
        #expect(sources.withLock { $0.count == 3 && $0.allSatisfy { !$0.isRunning } })
        #expect(stopper.tenures.withLock { $0 } == 0)
        stopper.registry.withLock { $0 = nil }
        world.relay.stop()
    }
}
