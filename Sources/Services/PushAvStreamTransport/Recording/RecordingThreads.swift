import Dispatch
import Transport

/// The threads on which cameras are recorded: a few for all of them.
///
/// A thread that has been woken waits a moment before it looks, so that the packets of many frames and of many cameras
/// cost one wake-up. What comes meanwhile stays where it is, in the relay's batches.
public final class RecordingThreads: Sendable {
    private let threads: [RecordingThread]
    private let next = Locked(0)

    /// - Parameters:
    ///   - count: how many threads. Each waits for the disk by itself.
    ///   - gathering: how long a thread waits before it looks, after it has been woken.
    public init(count: Int = 2, gathering: Duration = .milliseconds(100)) {
        threads = (0..<min(max(count, 1), 16)).map { _ in RecordingThread(gathering: gathering) }
        for thread in threads { thread.start() }
    }

    deinit { stop() }

    /// Ends the threads after their current work.
    public func stop() {
        for thread in threads { thread.stop() }
    }

    /// The thread of the next recorder.
    func assign() -> RecordingThread {
        let index = next.withLock { next in
            defer { next += 1 }
            return next % threads.count
        }
        return threads[index]
    }
}

/// Somebody whose work is done on a recording thread.
protocol RecordingWorker: AnyObject, Sendable {
    /// Does what there is to do. It may wait for the disk.
    func work()
}

/// One thread.
final class RecordingThread: Sendable {
    private struct Entry {
        weak var worker: (any RecordingWorker)?
        /// A worker that has something to do although nobody else may keep it.
        var kept: (any RecordingWorker)?
        var isDue = false
    }

    private struct State {
        var workers: [Int: Entry] = [:]
        var nextTicket = 0
        var hasWoken = false
        var isStopped = false
        /// Whether the thread has ended, so that nothing is kept for it.
        var hasEnded = false
    }

    private let state = Locked(State())
    private let somethingToDo = DispatchSemaphore(value: 0)
    private let hurry = DispatchSemaphore(value: 0)
    private let gathering: Duration
    /// Workers look this often, woken or not: for what is due because nothing comes.
    private static let interval = DispatchTimeInterval.milliseconds(500)

    init(gathering: Duration) {
        self.gathering = gathering
    }

    func start() {
        let hasStarted = startDetachedThread { [weak self] in Self.run { self } }
        if !hasStarted { state.withLock { ($0.isStopped, $0.hasEnded) = (true, true) } }
    }

    /// Ends the thread after it has done what it was woken for with ``wake(_:keeping:isUrgent:)``.
    func stop() {
        state.withLock { $0.isStopped = true }
        somethingToDo.signal()
    }

    func add(_ worker: some RecordingWorker) -> Int {
        state.withLock { state in
            state.nextTicket += 1
            state.workers[state.nextTicket] = Entry(worker: worker)
            return state.nextTicket
        }
    }

    func remove(_ ticket: Int) {
        // What the entry held is released outside of the lock.
        _ = state.withLock { $0.workers.removeValue(forKey: ticket) }
    }

    /// There is work for one of the workers. It does not wait, and wakes the thread once for all work.
    /// - Parameters:
    ///   - worker: kept until the work is done, whether its owner keeps it or not; nil for work that is only for its owner.
    ///   - isUrgent: whether it is not to wait for more.
    func wake(_ ticket: Int, keeping worker: (any RecordingWorker)? = nil, isUrgent: Bool = false) {
        let isFirst = state.withLock { state in
            state.workers[ticket]?.isDue = true
            if let worker, !state.hasEnded { state.workers[ticket]?.kept = worker }
            defer { state.hasWoken = true }
            return !state.hasWoken
        }
        if isUrgent { hurry.signal() }
        if isFirst { somethingToDo.signal() }
    }

    private static func run(_ thread: () -> RecordingThread?) {
        var lastRound = DispatchTime.now()
        while let current = thread() {
            guard let workers = current.waitForWork(&lastRound) else { return }
            for worker in workers { worker.work() }
        }
    }

    /// The workers that have something to do; nil when the thread has to end.
    private func waitForWork(_ lastRound: inout DispatchTime) -> [any RecordingWorker]? {
        let isWoken = somethingToDo.wait(timeout: .now() + Self.interval) == .success
        if isWoken {
            // What is left of the signal for work that has been done makes one later round come early.
            _ = hurry.wait(timeout: .now() + .nanoseconds(Int(clamping: gathering.wholeNanoseconds)))
        }
        let now = DispatchTime.now()
        let isRound = now >= lastRound + Self.interval
        if isRound { lastRound = now }
        return state.withLock { state -> [any RecordingWorker]? in
            state.hasWoken = false
            var due: [any RecordingWorker] = []
            for ticket in Array(state.workers.keys) {
                guard let entry = state.workers[ticket], state.isStopped ? entry.kept != nil : entry.isDue || isRound,
                    let worker = entry.kept ?? entry.worker
                else { continue }
                state.workers[ticket]?.isDue = false
                state.workers[ticket]?.kept = nil
                due.append(worker)
            }
            guard state.isStopped, due.isEmpty else { return due }
            state.hasEnded = true
            return nil
        }
    }
}
