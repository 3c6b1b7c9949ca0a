import Dispatch
import MediaRelay
import Transport

/// A thread that transcodes what a tap brings, through a queue that is bounded in time. A transcoder that falls behind
/// skips something instead of becoming late.
final class TranscoderWorker: Sendable {
    /// What feeds the thread.
    let tap: QueueTap
    private let queue: TapQueue
    private let somethingToDo = DispatchSemaphore(value: 0)
    /// What came out of the ring may wait this long for the thread to begin.
    private static let startBound = Duration.seconds(15)

    /// - Parameters:
    ///   - bound: how much media may wait.
    ///   - now: the moment from which the bound applies. What arrived before comes from the track's ring: it comes all
    ///     at once and is long in time.
    init(bound: Duration, at now: Instant) {
        queue = TapQueue(limits: .init(duration: bound, startDuration: Self.startBound, overflow: .skip))
        // The decoder asks for a key frame itself when it needs one.
        tap = queue.makeTap(at: now)
        queue.setWake { [somethingToDo] in somethingToDo.signal() }
    }

    /// Starts the thread. It calls `body` once, which takes work until ``take(into:)`` returns false.
    func start(_ body: @escaping @Sendable (TranscoderWorker) -> Void) -> Bool {
        startDetachedThread(name: "transcoder") { body(self) }
    }

    /// Ends the thread after its current work.
    func stop() {
        queue.close()
    }

    /// Waits for work and takes all of it; false if the worker has been stopped.
    func take(into work: inout [TapQueue.Entry]) -> Bool {
        while queue.take(into: &work) {
            if !work.isEmpty { return true }
            somethingToDo.wait()
        }
        return false
    }

    /// What has been skipped.
    var dropped: TapQueue.Drops { queue.drops }
}
