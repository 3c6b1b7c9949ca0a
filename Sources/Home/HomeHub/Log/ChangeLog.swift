import Dispatch
import Foundation
import HomeTypes
import Transport

/// Every change in the home, in order, with a number that survives restarts.
///
/// The hub adds entries and continues immediately. The log's own thread writes all that have been collected to the
/// store, and only then do the readers get them: what a reader has seen is still in the log after the process is
/// killed. Readers read at their own pace from their own places (``ChangeReader``). A slow reader costs only its place,
/// because what it has not read is in the log and not in a queue of its own.
///
/// While the store fails, the readers get the entries anyway, and the latest wait in memory until the store accepts
/// them. While the store does not respond at all, the entries wait, and so do the readers. Both are bounded in bytes.
/// Entries that do not find room are counted, and readers that have not received them are informed that something is
/// missing.
public final class ChangeLog: Sendable {
    /// The maximum number of entries in the newest part in memory. A reader that lags further behind reads from the
    /// store.
    static let tailCapacity = 1_024
    /// How many bytes the newest part may take.
    static let tailBytes = 4 << 20
    /// How many entries one transaction writes, and how many a reader gets at once.
    static let batch = 256
    /// How many bytes of entries wait while the store fails; older ones are lost to later runs.
    static let maximumWaiting = 16 << 20
    /// How many bytes of entries wait while the store does not respond; older ones are lost to everybody.
    static let maximumPending = 16 << 20
    /// How long the store may take to respond before that is a problem.
    static let longestWrite = Duration.seconds(10)
    /// How long the log waits before it tries a failing store again.
    static let pause = Duration.seconds(1)
    /// How many heartbeats a reader may leave unread before it is cut off.
    static let patience = 4

    /// The state of the store, for the log file and metrics.
    public struct Status: Sendable, Equatable {
        /// Why entries are not kept, as a text; nil while they are kept.
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
        var pendingBytes = 0
        /// Entries that readers may have and the store does not, because it failed.
        var unwritten: [LogEntry] = []
        var unwrittenBytes = 0
        var isWriting = false
        /// Since when a write has been in progress; nil if none is.
        var writingSince: ContinuousClock.Instant?
        /// The newest entries that readers may have, oldest first.
        var tail: [PublishedEntry] = []
        var tailBytes = 0
        /// The number of the newest entry that readers may have.
        var committed: Int64
        var retryAt: ContinuousClock.Instant?
        var status = Status()
        /// How many tasks have begun to wait for the disk with a bound.
        var boundedWaits = 0
        var readers: [UInt64: ChangeReader.Place] = [:]
        var nextReader: UInt64 = 0
        var isFinished = false
    }

    let store: any LocalStore
    public let identity: LogIdentity
    let state: Locked<State>
    let writing = DispatchQueue(label: "change log, writing")
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

    /// The state of the store.
    public var status: Status {
        state.withLock { state in
            var status = state.status
            status.waiting = state.unwritten.count + state.pending.count
            if let since = state.writingSince, ContinuousClock.now - since > Self.longestWrite {
                status.problem = status.problem ?? Self.silence
            }
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
        let (sequence, mustStart, changed) = state.withLock { state in
            let sequence = state.next
            state.next += 1
            let entry = LogEntry(
                sequence: sequence, incarnation: identity.incarnation, timestamp: timestamp,
                name: encoded.name, subject: encoded.subject, effect: encoded.effect,
                principal: encoded.principal, data: encoded.data)
            state.pending.append(entry)
            state.pendingBytes += entry.size
            defer { state.isWriting = true }
            return (sequence, !state.isWriting, Self.boundPending(&state))
        }
        if let changed { report(changed) }
        if mustStart { writing.async { self.write() } }
        return cursor(sequence)
    }

    static let silence = "the disk does not answer; changes wait in memory"

    /// Drops the oldest entries that wait for a store that does not respond, to make room for later ones.
    /// - Returns: the status, if it has become a problem.
    private static func boundPending(_ state: inout State) -> Status? {
        guard state.pendingBytes > maximumPending else { return nil }
        // A part at a time, so that this does not happen for each entry.
        let count = state.pending.count(fitting: maximumPending - maximumPending / 4)
        let lost = state.pending.count - count
        state.pendingBytes -= state.pending[..<lost].reduce(0) { $0 + $1.size }
        state.pending.removeFirst(lost)
        state.status.lost += UInt64(lost)
        guard state.status.problem == nil else { return nil }
        state.status.problem = silence
        return state.status
    }

    /// Returns when everything that was added has been written, or a write was tried.
    public func flush() {
        writing.sync {
            state.withLock { $0.retryAt = nil }
            write()
        }
    }

    /// The same without blocking a thread of Swift's concurrency pool.
    func settle() async {
        await withCheckedContinuation { continuation in writing.async { continuation.resume() } }
    }

    /// The same, at most for `patience`, and no longer than until the task is cancelled: a disk may hang.
    func settle(atMost patience: Duration) async {
        state.withLock { $0.boundedWaits += 1 }
        let isWritten = Awaitable(false)
        writing.async { isWritten.withLock { $0 = true } }
        await isWritten.wait(atMost: patience) { $0 }
    }

    /// How many tasks have begun to wait in ``settle(atMost:)`` so far, for tests.
    var boundedWaits: Int { state.withLock { $0.boundedWaits } }

    /// Writes what has been collected until nothing is left. It runs on the queue for writing.
    private func write() {
        while true {
            let batch = state.withLock { state -> [LogEntry] in
                let batch = Array(state.pending.prefix(Self.batch))
                state.pending.removeFirst(batch.count)
                state.pendingBytes -= batch.reduce(0) { $0 + $1.size }
                // Retrying what the store has refused also counts as work.
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
        let attempt = state.withLock { state -> [LogEntry]? in
            state.unwritten += batch
            state.unwrittenBytes += batch.reduce(0) { $0 + $1.size }
            guard Self.mayTry(state) else { return nil }
            state.writingSince = .now
            return state.unwritten
        }
        var problem: String?
        if let attempt {
            do throws(StoreFailure) {
                try store.append(attempt)
            } catch {
                problem = "\(error)"
            }
        }
        let changed = state.withLock { state -> Status? in
            let before = state.status.problem
            if let attempt {
                state.writingSince = nil
                state.status.problem = problem
                if problem == nil {
                    state.unwritten.removeFirst(attempt.count)
                    state.unwrittenBytes -= attempt.reduce(0) { $0 + $1.size }
                    state.status.written += UInt64(attempt.count)
                    state.retryAt = nil
                } else {
                    state.retryAt = ContinuousClock.now + Self.pause
                }
            }
            if state.unwrittenBytes > Self.maximumWaiting {
                let excess = state.unwritten.count - state.unwritten.count(fitting: Self.maximumWaiting)
                state.unwrittenBytes -= state.unwritten[..<excess].reduce(0) { $0 + $1.size }
                state.unwritten.removeFirst(excess)
                state.status.lost += UInt64(excess)
            }
            state.status.waiting = state.unwritten.count
            return (before == nil) == (state.status.problem == nil) ? nil : state.status
        }
        if let changed { report(changed) }
    }

    /// Passes a batch to the readers.
    private func publish(_ batch: [LogEntry]) {
        guard let first = batch.first, let last = batch.last else { return }
        let published = batch.map { PublishedEntry($0, log: identity.log) }
        let waiting = state.withLock { state in
            if let newest = state.tail.last?.entry.sequence, newest + 1 != first.sequence {
                // Something in between was dropped. A reader that has not received it reads the store, finds the gap,
                // and reports it.
                state.tail = []
                state.tailBytes = 0
            }
            state.tail += published
            state.tailBytes += batch.reduce(0) { $0 + $1.size }
            Self.boundTail(&state)
            state.committed = last.sequence
            return ChangeReader.Place.takeWaiting(&state.readers)
        }
        wake(waiting)
    }

    /// Drops the older half of the newest part if it has become too large. While the store fails, entries that it does
    /// not have stay readable from here for as long as they wait.
    private static func boundTail(_ state: inout State) {
        let needed = state.unwritten.first.map { first in
            state.tail.partitioningIndex { $0.entry.sequence >= first.sequence }
        }
        guard state.tail.count > 2 * tailCapacity || state.tailBytes > tailBytes else { return }
        let excess = min(max(state.tail.count - tailCapacity, state.tail.count / 2), needed ?? .max)
        for published in state.tail[..<excess] { state.tailBytes -= published.entry.size }
        state.tail.removeFirst(excess)
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
            state.withLock { state in
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
    /// The results of commands since a time that an earlier run kept.
    func results(since: Date) -> [KeptResult] { (try? store.results(since: since)) ?? [] }

    /// Keeps the result of a command. It returns when that is on the disk.
    /// - Throws: ``StoreFailure`` if the disk fails.
    func keep(_ result: KeptResult) async throws(StoreFailure) {
        try await onWritingQueue { (store) throws(StoreFailure) in try store.keep(result) }
    }

    /// Forgets a command, which had no effect.
    func forget(_ result: KeptResult) async throws(StoreFailure) {
        try await onWritingQueue { (store) throws(StoreFailure) in try store.forget(result) }
    }

    private func onWritingQueue(
        _ body: @escaping @Sendable (any LocalStore) throws(StoreFailure) -> Void
    ) async throws(StoreFailure) {
        let result: Result<Void, StoreFailure> = await withCheckedContinuation { continuation in
            writing.async {
                continuation.resume(returning: Result { () throws(StoreFailure) in try body(self.store) })
            }
        }
        try result.get()
    }

    /// The changes that an earlier run left as the state of devices and sessions, with their times.
    func recall() -> [(change: HomeChange, time: Date)] {
        guard let entries = try? store.state() else { return [] }
        return entries.compactMap { entry in
            HomeChange(name: entry.name, data: entry.data).map { ($0, entry.timestamp) }
        }
    }

    /// Whether the log no longer accepts readers.
    var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Adds the events of an earlier version of the gateway, which kept them in another file. Their times stay.
    public func adopt(_ events: [DeviceEvent]) {
        for event in events {
            if let change = event.change { append(change, at: event.timestamp) }
        }
    }
}

extension [LogEntry] {
    /// How many of the newest entries take at most this many bytes together.
    fileprivate func count(fitting bytes: Int) -> Int {
        var left = bytes
        var count = 0
        for entry in reversed() {
            left -= entry.size
            guard left >= 0 else { break }
            count += 1
        }
        return count
    }
}
