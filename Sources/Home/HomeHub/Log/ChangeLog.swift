import Dispatch
import Foundation
import HomeTypes
import Transport

/// Every change in the home, in order, with a number that survives restarts.
///
/// The hub adds entries and goes on at once. A thread of the log's own writes them to the store, as many together as
/// have gathered, and only then do the readers get them: what a reader has seen is still in the log after the process
/// is killed. Readers read at their own pace from their own places (``ChangeReader``). A slow one costs nothing but its
/// place, because what it has not read is in the log and not in a queue of its own.
///
/// While the store fails, the readers get the entries all the same, and the latest wait in memory until the store takes
/// them.
public final class ChangeLog: Sendable {
    /// How many entries the newest part in memory holds. A reader that lags further behind reads from the store.
    static let tailCapacity = 1_024
    /// How many bytes the newest part may take.
    static let tailBytes = 4 << 20
    /// How many entries one transaction writes, and how many a reader gets at once.
    static let batch = 256
    /// How many entries wait while the store fails; older ones are lost to later runs.
    static let maximumWaiting = 4_096
    /// How long the log leaves a failing store alone before it tries again.
    static let pause = Duration.seconds(1)
    /// How many heartbeats a reader may leave unread before it is cut off.
    static let patience = 4

    /// What became of the store, for the log file and metrics.
    public struct Status: Sendable, Equatable {
        /// Why entries are not kept, in words; nil while they are.
        public var problem: String?
        /// Entries that wait for the store.
        public var waiting = 0
        /// Entries that never reached the store.
        public var lost: UInt64 = 0
        /// Entries written since the start.
        public var written: UInt64 = 0
    }

    struct State {
        /// The number of the next entry.
        var next: Int64
        /// Entries that are not committed yet, oldest first.
        var pending: [LogEntry] = []
        /// Entries that readers may have and the store does not, because it failed.
        var unwritten: [LogEntry] = []
        var isWriting = false
        /// The newest entries that readers may have, oldest first.
        var tail: [PublishedEntry] = []
        var tailBytes = 0
        /// The number of the newest entry that readers may have.
        var committed: Int64
        var retryAt: ContinuousClock.Instant?
        var status = Status()
        var readers: [UInt64: ChangeReader.Place] = [:]
        var nextReader: UInt64 = 0
        var isFinished = false
    }

    let store: any LocalStore
    public let identity: LogIdentity
    let state: Locked<State>
    private let writing = DispatchQueue(label: "change log, writing")
    let reading = DispatchQueue(label: "change log, reading")
    private let report: @Sendable (Status) -> Void

    /// A log in a store.
    /// - Parameter report: called when the store begins to fail and when it works again. It must not block.
    public init(_ store: any LocalStore = MemoryStore(), report: @escaping @Sendable (Status) -> Void = { _ in }) {
        self.store = store
        self.identity = store.identity
        self.report = report
        var problem: String?
        var last: Int64 = 0
        do { last = try store.lastSequence() } catch { problem = "\(error)" }
        var state = State(next: last + 1, committed: last)
        state.status.problem = problem
        self.state = Locked(state)
    }

    /// What became of the store.
    public var status: Status {
        self.state.withLock { state in
            var status = state.status
            status.waiting = state.unwritten.count + state.pending.count
            return status
        }
    }

    /// The cursor of the newest entry, whether or not it is committed.
    public var newest: LogCursor {
        let sequence = state.withLock { $0.next - 1 }
        return cursor(sequence)
    }

    /// The cursor of an entry of this run.
    func cursor(_ sequence: Int64) -> LogCursor {
        LogCursor(log: identity.log, incarnation: identity.incarnation, sequence: sequence)
    }

    // MARK: Writing

    /// Adds a change.
    /// - Returns: its cursor.
    @discardableResult
    public func append(_ change: HomeChange, at timestamp: Date) -> LogCursor {
        append(change.encoded(), at: timestamp)
    }

    /// Adds a change whose JSON is there already.
    /// - Returns: its cursor.
    @discardableResult
    func append(_ encoded: HomeChange.Encoded, at timestamp: Date) -> LogCursor {
        let (sequence, mustStart) = self.state.withLock { state in
            let sequence = state.next
            state.next += 1
            state.pending.append(
                LogEntry(
                    sequence: sequence, incarnation: identity.incarnation, timestamp: timestamp,
                    name: encoded.name, subject: encoded.subject, effect: encoded.effect,
                    principal: encoded.principal, data: encoded.data))
            defer { state.isWriting = true }
            return (sequence, !state.isWriting)
        }
        if mustStart { writing.async { self.write() } }
        return cursor(sequence)
    }

    /// Returns when everything that was added has been written, or a write was tried.
    public func flush() {
        writing.sync {
            self.state.withLock { $0.retryAt = nil }
            self.write()
        }
    }

    /// The same without blocking a thread of Swift's own.
    func settle() async {
        await withCheckedContinuation { continuation in self.writing.async { continuation.resume() } }
    }

    /// Writes what has gathered until nothing is left. It runs on the queue for writing.
    private func write() {
        while true {
            let batch = self.state.withLock { state -> [LogEntry] in
                let batch = Array(state.pending.prefix(Self.batch))
                state.pending.removeFirst(batch.count)
                // A retry of what the store has refused is work as well.
                state.isWriting = !batch.isEmpty || (!state.unwritten.isEmpty && Self.mayTry(state))
                return batch
            }
            guard self.state.withLock({ $0.isWriting }) else { return wake(ended()) }
            keep(batch)
            publish(batch)
        }
    }

    private static func mayTry(_ state: State) -> Bool { state.retryAt.map { ContinuousClock.now >= $0 } ?? true }

    /// Writes a batch, and what an earlier failure left, to the store.
    private func keep(_ batch: [LogEntry]) {
        let attempt = self.state.withLock { state -> [LogEntry]? in
            state.unwritten += batch
            return Self.mayTry(state) ? state.unwritten : nil
        }
        var problem: String?
        if let attempt {
            do throws(StoreFailure) {
                try store.append(attempt)
            } catch {
                problem = "\(error)"
            }
        }
        let changed = self.state.withLock { state -> Status? in
            let before = state.status.problem
            if let attempt {
                state.status.problem = problem
                if problem == nil {
                    state.unwritten.removeFirst(attempt.count)
                    state.status.written += UInt64(attempt.count)
                    state.retryAt = nil
                } else {
                    state.retryAt = ContinuousClock.now + Self.pause
                }
            }
            let excess = state.unwritten.count - Self.maximumWaiting
            if excess > 0 {
                state.unwritten.removeFirst(excess)
                state.status.lost += UInt64(excess)
            }
            state.status.waiting = state.unwritten.count
            return (before == nil) == (state.status.problem == nil) ? nil : state.status
        }
        if let changed { report(changed) }
    }

    /// Lets the readers have a batch.
    private func publish(_ batch: [LogEntry]) {
        guard let last = batch.last else { return }
        let published = batch.map { PublishedEntry($0, log: identity.log) }
        let waiting = self.state.withLock { state in
            state.tail += published
            state.tailBytes += batch.reduce(0) { $0 + $1.size }
            // While the store fails, what it lacks stays readable from here as far as it waits.
            let capacity = Self.tailCapacity + state.unwritten.count
            if state.tail.count > 2 * capacity || state.tailBytes > Self.tailBytes {
                let excess = max(state.tail.count - capacity, state.tail.count / 2)
                for published in state.tail[..<excess] { state.tailBytes -= published.entry.size }
                state.tail.removeFirst(excess)
            }
            state.committed = last.sequence
            return ChangeReader.Place.takeWaiting(&state.readers)
        }
        wake(waiting)
    }

    /// Tries again to write what the store has refused.
    func retry() {
        guard state.withLock({ !$0.unwritten.isEmpty }) else { return }
        writing.async { self.write() }
    }

    // MARK: Life

    /// Ends every reader's stream once it has read what there is, including those of later readers.
    func finish() {
        wake(
            self.state.withLock { state in
                state.isFinished = true
                return ChangeReader.Place.takeWaiting(&state.readers)
            })
    }

    /// The readers that wait for the end of a log that has finished and has nothing left to write.
    private func ended() -> [CheckedContinuation<Void, Never>] {
        state.withLock { $0.isFinished ? ChangeReader.Place.takeWaiting(&$0.readers) : [] }
    }

    func wake(_ waiting: [CheckedContinuation<Void, Never>]) {
        for continuation in waiting { continuation.resume() }
    }
}

extension ChangeLog {
    /// The changes that an earlier run left as the state of devices and sessions, with their times.
    func recall() -> [(change: HomeChange, time: Date)] {
        guard let entries = try? store.state() else { return [] }
        return entries.compactMap { entry in
            HomeChange(name: entry.name, data: entry.data).map { ($0, entry.timestamp) }
        }
    }

    /// Whether the log takes no more readers.
    var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Adds the events of an earlier gateway, which kept them in another file. Their times stay.
    public func adopt(_ events: [DeviceEvent]) {
        for event in events {
            if let change = event.change { append(change, at: event.timestamp) }
        }
    }
}
