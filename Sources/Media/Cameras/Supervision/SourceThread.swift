import DatagramPort
import Transport

/// The thread of a source that runs from start to stop.
final class SourceThread: Sendable {
    private struct Running {
        var control: SourceControl
        var sink: any CameraSink
    }

    private let running = Locked<Running?>(nil)

    deinit {
        _ = running.withLock { $0?.control }?.stop()
    }

    /// Starts `body` on a thread of its own, unless it runs. A failure goes to the sink.
    func start(sink: any CameraSink, _ body: @escaping @Sendable (SourceControl) -> Void) {
        running.withLock { running in
            guard running == nil else { return }
            guard let control = SourceControl() else {
                sink.handle(.state(.backingOff(seconds: 0, reason: .noFileDescriptor)))
                return
            }
            guard startDetachedThread(name: "camera", { body(control) }) else {
                sink.handle(.state(.backingOff(seconds: 0, reason: .noThread)))
                return
            }
            running = Running(control: control, sink: sink)
        }
    }

    /// Stops it; returns when it no longer calls the sink.
    func stop() {
        let last = running.withLock { running in
            defer { running = nil }
            return running
        }
        guard let last else { return }
        // A thread that was left behind in a look-up no longer reports, so the final state is reported here.
        if !last.control.stop() { last.sink.handle(.state(.stopped)) }
    }

    /// Asks for a key frame of a track.
    func requestKeyFrame(track: Int) {
        running.withLock { $0?.control }?.requestKeyFrame(track: track)
    }
}
