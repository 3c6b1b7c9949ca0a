import Cameras
import SDP
import Testing

@Suite struct BuiltInCameraTests {
    private static let small = BuiltInCamera.Configuration(name: "Test", width: 160, height: 90)

    /// Starts `camera` and returns its sink once `isAwaited` is true for an event.
    private func start(
        _ camera: BuiltInCamera, until isAwaited: @escaping @Sendable (CameraEvent) -> Bool
    ) async -> CollectingSink {
        let (events, continuation) = AsyncStream.makeStream(of: CameraEvent.self)
        let sink = CollectingSink { continuation.yield($0) }
        camera.start(sink: sink)
        for await event in events where isAwaited(event) { break }
        return sink
    }

    @Test(.timeLimit(.minutes(10))) func theCameraAnnouncesItsTracksFlowsAndStops() async {
        let camera = BuiltInCamera(Self.small)
        for _ in 0..<2 {
            let sink = await start(camera) { $0 == .state(.flowing) }
            camera.stop()
            let collected = sink.collected
            guard case .tracks(let tracks) = collected.events.first else {
                Issue.record("the first event is \(String(describing: collected.events.first))")
                return
            }
            #expect(tracks.map(\.codec.name) == ["VP8", "opus"] && tracks.map(\.payloadType) == [96, 111])
            #expect(collected.events.last == .state(.stopped))
            #expect(!collected.packets(of: 0).isEmpty && !collected.packets(of: 1).isEmpty)
            camera.stop()
            #expect(sink.collected.events.count == collected.events.count)
        }
    }

    @Test(.timeLimit(.minutes(10))) func aPressIsReportedOnce() async {
        let camera = BuiltInCamera(Self.small)
        #expect(!camera.press())
        let (events, continuation) = AsyncStream.makeStream(of: CameraEvent.self)
        let sink = CollectingSink { continuation.yield($0) }
        camera.start(sink: sink)
        #expect(camera.press())
        for await event in events where event == .buttonPressed() { break }
        camera.stop()
        #expect(sink.collected.events.filter { $0 == .buttonPressed() }.count == 1)
        #expect(!camera.press())
    }

    @Test func aCameraWithoutAButtonCannotBePressed() {
        var configuration = Self.small
        configuration.isDoorbell = false
        let camera = BuiltInCamera(configuration)
        camera.start(sink: CollectingSink())
        #expect(!camera.press())
        camera.stop()
    }

    @Test(.timeLimit(.minutes(10))) func aCameraThatCannotRunSaysWhyAndCanBeStopped() async {
        var configuration = Self.small
        configuration.framesPerSecond = 0
        let camera = BuiltInCamera(configuration)
        let sink = await start(camera) { event in
            if case .state(.backingOff) = event { true } else { false }
        }
        camera.stop()
        guard case .state(.backingOff(_, let reason)) = sink.collected.events.first else {
            Issue.record("the first event is \(String(describing: sink.collected.events.first))")
            return
        }
        #expect(reason.words.contains("VP8"))
        #expect(sink.collected.events.last == .state(.stopped))
    }

    @Test func aReleasedCameraStops() {
        let sink = CollectingSink()
        do {
            let camera = BuiltInCamera(Self.small)
            camera.start(sink: sink)
        }
        #expect(sink.collected.events.last == .state(.stopped))
    }
}
