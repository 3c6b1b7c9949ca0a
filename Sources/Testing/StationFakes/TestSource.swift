import Cameras
import Intake
import RTP
import Transport

/// A source that does what a test tells it.
package final class TestSource: CameraSource {
    package let url: String
    private let sink = Locked<(any CameraSink)?>(nil)
    private let inlets = Locked<[any PacketInlet]>([])

    package init(_ url: String) { self.url = url }

    package var isRunning: Bool { sink.withLock { $0 != nil } }
    package var speaker: (any CameraSpeaker)? { nil }

    package func start(sink: any CameraSink) { self.sink.withLock { $0 = sink } }
    package func stop() { sink.withLock { $0 = nil } }
    package func requestKeyFrame(track: Int) {}
    package func report(_ event: CameraEvent) { sink.withLock { $0 }?.handle(event) }

    package func open(_ tracks: [TrackDescription]) {
        let opened = sink.withLock { $0 }?.open(tracks) ?? []
        inlets.withLock { $0 = opened }
    }

    /// Hands a batch of a track in.
    package func deliver(_ batch: PacketBatch, track: Int = 0) {
        inlets.withLock { $0.indices.contains(track) ? $0[track] : nil }?.deliver(batch)
    }
}
