import Cameras
import Transport

/// A source that does what a test tells it.
package final class TestSource: CameraSource {
    package let url: String
    private let sink = Locked<(any CameraSink)?>(nil)

    package init(_ url: String) { self.url = url }

    package var isRunning: Bool { sink.withLock { $0 != nil } }
    package var speaker: (any CameraSpeaker)? { nil }

    package func start(sink: any CameraSink) { self.sink.withLock { $0 = sink } }
    package func stop() { sink.withLock { $0 = nil } }
    package func requestKeyFrame(track: Int) {}
    package func report(_ event: CameraEvent) { sink.withLock { $0 }?.handle(event) }
    package func open(_ tracks: [TrackDescription]) { _ = sink.withLock { $0 }?.open(tracks) }
}
