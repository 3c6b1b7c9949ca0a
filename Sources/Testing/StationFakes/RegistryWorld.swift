import Cameras
import DatagramPort
import MediaRelay
import Stations
import Transport

/// A registry of cameras on a real relay. An RTSP camera is a ``TestSource``, and other pulled cameras cannot be made.
package struct RegistryWorld: Sendable {
    package let relay: MediaRelay
    package let registry: CameraRegistry
    /// The sources of the RTSP cameras, in the order in which they were made.
    package let made = Locked<[TestSource]>([])

    package init(tenures: Tenures = Tenures()) throws {
        relay = try MediaRelay(ports: UDPPortGroup(.loopback(), count: 2))
        let made = made
        registry = CameraRegistry(
            users: [], relay: relay, transcoding: TranscodingBudget(cores: 2), tenures: tenures
        ) { camera throws(SourceMaker.Failure) in
            switch camera.source {
            case .builtInDoorbell: return BuiltInCamera(BuiltInCamera.Configuration(name: camera.name))
            case .rtsp(let url):
                let source = TestSource(url)
                made.withLock { $0.append(source) }
                return source
            case .builtInSilent, .onvif, .pictures, .stream, .videoDevice, .published:
                throw SourceMaker.Failure(description: "no such camera here")
            }
        }
    }

    /// The newest source with this address.
    package func source(_ url: String) -> TestSource? { made.withLock { $0.last { $0.url == url } } }

    /// Waits for a camera's pictures. A camera that encodes them takes real time for the first one.
    package func waitUntilFlowing(_ station: CameraStation) async {
        await waitUntilFlowing(station) {}
    }

    /// Does something that makes a camera's pictures come, and waits for them. A camera that is pulled on demand may be idle again
    /// before a test on a busy machine continues, so its events are recorded from before the action.
    package func waitUntilFlowing(_ station: CameraStation, after action: () async throws -> Void) async rethrows {
        let (flows, continuation) = AsyncStream.makeStream(of: Void.self)
        let observer = station.observe { event in
            if case .state(.flowing) = event { continuation.yield() }
        }
        defer { station.stopObserving(observer) }
        try await action()
        // The camera may have been flowing already.
        if station.snapshot.state == .flowing { return }
        for await _ in flows { break }
    }
}
