import Dispatch
import MediaRelay
import RTP
import SDP
import Transport

/// A tap that passes batches to a thread of its own, through a queue that is bounded in time. A transcoder that falls
/// behind skips something instead of becoming late.
final class TranscoderWorker: TrackTap {
    /// What the thread has to do next.
    enum Work: Sendable {
        case transcode(TappedBatch)
        /// The source has restarted.
        case restart
        /// Something before this has been skipped.
        case noteOverflow

        /// When the batch arrived; nil for anything that is not a batch.
        var arrival: Instant? {
            if case .transcode(let tapped) = self { tapped.batch.arrival } else { nil }
        }
    }

    private struct State {
        var waiting: [Work] = []
        var oldest: Instant?
        var isStopped = false
        var dropped: UInt64 = 0
    }

    private let state = Locked(State())
    private let somethingToDo = DispatchSemaphore(value: 0)
    /// How much media may wait.
    private let bound: Duration
    /// Batches that arrived before this come from the track's ring: they come all at once and are long in time.
    private let begin: Instant
    /// More than a ring holds.
    private static let ringBound = Duration.seconds(15)

    /// - Parameter begin: the moment from which the bound applies: now.
    init(bound: Duration, begin: Instant) {
        self.bound = bound
        self.begin = begin
    }

    /// Starts the thread. It calls `body` once, which takes work until ``take()`` returns nil.
    func start(_ body: @escaping @Sendable (TranscoderWorker) -> Void) -> Bool {
        startDetachedThread { body(self) }
    }

    /// Ends the thread after its current work.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.waiting = []
        }
        somethingToDo.signal()
    }

    /// Waits for work and takes all of it; nil if the worker has been stopped.
    func take() -> [Work]? {
        while true {
            let (work, isStopped) = state.withLock { state in
                defer {
                    state.waiting = []
                    state.oldest = nil
                }
                return (state.waiting, state.isStopped)
            }
            if isStopped { return nil }
            if !work.isEmpty { return work }
            somethingToDo.wait()
        }
    }

    /// How many batches have been skipped.
    var dropped: UInt64 { state.withLock { $0.dropped } }

    func receive(_ batch: TappedBatch) {
        let isFirst = state.withLock { state -> Bool in
            guard !state.isStopped else { return false }
            let wasEmpty = state.waiting.isEmpty
            if let oldest = state.oldest,
                batch.batch.arrival - oldest > (oldest < begin ? max(bound, Self.ringBound) : bound)
            {
                state.dropped += UInt64(state.waiting.count)
                state.waiting = [.noteOverflow]
                state.oldest = nil
            }
            if state.oldest == nil { state.oldest = batch.batch.arrival }
            state.waiting.append(.transcode(batch))
            return wasEmpty
        }
        if isFirst { somethingToDo.signal() }
    }

    func trackRestarted() {
        let isFirst = state.withLock { state -> Bool in
            defer { state.waiting.append(.restart) }
            return state.waiting.isEmpty
        }
        if isFirst { somethingToDo.signal() }
    }

    /// The camera reports the tracks to the owner, which decides.
    func trackEnded() {}
}
