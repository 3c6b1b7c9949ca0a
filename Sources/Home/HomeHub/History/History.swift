import DatagramPort
import Dispatch
import Foundation
import GRDB
import HomeTypes
import SQLiteFiles
import Transport

/// What happened in the home: what cameras have seen, presses, changes of state and recordings.
///
/// The hub hands over what happens and continues immediately. A separate queue finds out what has changed, merges noise
/// (``HistoryMerging``) and writes it. The history and what waits for the disk are both bounded: the history by age,
/// bytes and items.
public final class History: Sendable {
    /// The file in the state folder.
    public static let fileName = "history.sqlite"
    /// The maximum number of changes that wait to be read. Further ones are dropped and counted.
    static let maximumWaiting = 8_192
    /// The maximum number of operations that wait while the disk fails.
    static let maximumUnwritten = 16_384
    /// How long changes of state are collected before they are written together. Events are written immediately.
    private static let gathering = DispatchTimeInterval.milliseconds(200)
    /// How often the age of the items is checked.
    static let checkInterval = 3_600.0

    /// How the history is doing, for the log file and metrics.
    public struct Status: Sendable, Equatable {
        /// Why items are not kept, as a text; nil while they are kept.
        public var problem: String?
        /// Items that never reached the disk.
        public var lost: UInt64 = 0
        /// How many items there are.
        public var items = 0
    }

    private struct State {
        var waiting: [Change] = []
        var isGathering = false
        var isScheduled = false
        var status = Status()
    }

    /// What the queue for writing keeps.
    struct Writing {
        var merging = HistoryMerging()
        var nextID: Int64
        var unwritten: [HistoryOperation] = []
        var check: Check
    }

    /// When the age was last checked, by both clocks.
    struct Check: Sendable {
        var wall: Double
        var monotonic: Instant
    }

    /// Something that happened, as the hub hands it over.
    enum Change: Sendable {
        case states(before: DeviceSnapshot, after: DeviceSnapshot, at: Int64)
        case event(HistoryRow)
        case end(reference: String, device: String, at: Int64)
        case removed(device: String)
    }

    /// Where a damaged file was moved when the history was opened; nil if it was not damaged.
    public let damaged: String?
    let file: HistoryFile
    let retention: HistoryRetention
    let now: @Sendable () -> Date
    let clock: @Sendable () -> Instant
    private let state = Locked(State())
    let writing: Locked<Writing>
    private let queue = DispatchQueue(label: "history, writing", qos: .utility)
    private let reads = DispatchQueue(label: "history, reading")
    private let report: @Sendable (Status) -> Void

    /// Opens a history, or begins one.
    /// - Parameters:
    ///   - path: the file; nil for a history in memory.
    ///   - now: the wall clock.
    ///   - clock: the clock that is never set. It shows by how much the other one was set.
    ///   - report: called when the file begins to fail and when it works again. It must not block.
    public init(
        path: String? = nil, retention: HistoryRetention = HistoryRetention(),
        now: @escaping @Sendable () -> Date = { Date() },
        clock: @escaping @Sendable () -> Instant = { MonotonicClock.now },
        report: @escaping @Sendable (Status) -> Void = { _ in }
    ) throws(StoreFailure) {
        if let path {
            let opened = try DatabaseFile.open(path, migrator: HistoryFile.migrator)
            self.damaged = opened.setAside
            self.file = try HistoryFile(opened.pool, path: path)
        } else {
            self.damaged = nil
            do {
                let memory = try DatabaseQueue()
                try HistoryFile.migrator.migrate(memory)
                self.file = try HistoryFile(memory, path: "the history in memory")
            } catch {
                throw DatabaseFile.failure("the history in memory", error)
            }
        }
        self.retention = retention
        self.now = now
        self.clock = clock
        self.report = report
        self.writing = Locked(
            Writing(
                nextID: file.nextID, check: Check(wall: now().timeIntervalSince1970, monotonic: clock())))
        let count = try file.count()
        state.withLock { $0.status.items = count }
        // A clock may be wrong at the start, so what is too old leaves with the first check.
        try trimBySize()
    }

    /// How the history is doing.
    public var status: Status { state.withLock { $0.status } }

    // MARK: Taking

    /// Handles something that happened.
    func take(_ change: Change) {
        var isUrgent = true
        if case .states = change { isUrgent = false }
        let delay: DispatchTimeInterval? = state.withLock { state in
            guard state.waiting.count < Self.maximumWaiting else {
                state.status.lost += 1
                return nil
            }
            state.waiting.append(change)
            if isUrgent {
                guard !state.isScheduled else { return nil }
                state.isScheduled = true
                return .never
            }
            guard !state.isScheduled, !state.isGathering else { return nil }
            state.isGathering = true
            return Self.gathering
        }
        switch delay {
        case nil: break
        case .never?: queue.async { self.write() }
        case let delay?: queue.asyncAfter(deadline: .now() + delay) { self.write() }
        }
    }

    /// Returns when everything so far has been written, or a write was tried.
    public func flush() { queue.sync { write() } }

    /// Writes what has gathered. It runs on the queue for writing.
    private func write() {
        let changes = state.withLock { state in
            defer { state.waiting = [] }
            (state.isScheduled, state.isGathering) = (false, false)
            return state.waiting
        }
        let operations = writing.withLock { writing in
            writing.unwritten = Self.coalesced(writing.unwritten + changes.flatMap { writing.operations(for: $0) })
            return writing.unwritten
        }
        guard !operations.isEmpty else { return }
        var problem: String?
        do throws(StoreFailure) {
            try file.perform(operations)
            writing.withLock { $0.unwritten = [] }
            let added = operations.count { if case .insert = $0 { true } else { false } }
            state.withLock { $0.status.items += added }
            try trimIfDue()
        } catch {
            problem = "\(error)"
        }
        let lost = writing.withLock { writing in
            let excess = max(0, writing.unwritten.count - Self.maximumUnwritten)
            writing.unwritten.removeFirst(excess)
            return excess
        }
        let changed = state.withLock { state -> Status? in
            let before = state.status.problem
            state.status.problem = problem
            state.status.lost += UInt64(lost)
            return (before == nil) == (problem == nil) ? nil : state.status
        }
        if let changed { report(changed) }
    }

    /// The same operations. Of successive ones for the same item, only the last remains.
    private static func coalesced(_ operations: [HistoryOperation]) -> [HistoryOperation] {
        var places: [Int64: Int] = [:]
        var result: [HistoryOperation] = []
        for operation in operations {
            switch operation {
            case .insert(let row):
                places[row.id] = result.count
                result.append(operation)
            case .extend(let id, let new, let ended):
                guard let place = places[id] else {
                    places[id] = result.count
                    result.append(operation)
                    continue
                }
                if case .insert(var row) = result[place] {
                    (row.new, row.ended) = (new, ended)
                    result[place] = .insert(row)
                } else {
                    result[place] = operation
                }
            case .end: result.append(operation)
            }
        }
        return result
    }

    // MARK: Reading

    /// Runs `body`, which waits for the disk, on a separate queue after everything so far has been written.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (HistoryFile) throws(StoreFailure) -> Value
    ) async throws(HomeError) -> Value {
        let result: Result<Value, StoreFailure> = await withCheckedContinuation { continuation in
            reads.async {
                self.flush()
                do throws(StoreFailure) {
                    continuation.resume(returning: .success(try body(self.file)))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        do { return try result.get() } catch {
            throw .unavailable("the history cannot be read at the moment: \(error)")
        }
    }

    /// Counts items that are gone.
    func record(dropped count: Int) {
        state.withLock { $0.status.items = max(0, $0.status.items - count) }
    }
}

extension History.Writing {
    /// What to write for a change.
    mutating func operations(for change: History.Change) -> [HistoryOperation] {
        switch change {
        case .states(let before, let after, let time):
            return HistoryTransition.list(from: before, to: after).compactMap { transition in
                merging.take(
                    device: after.id, endpoint: transition.endpoint, trait: transition.trait,
                    attribute: transition.attribute, from: transition.old, to: transition.new, at: time,
                    nextID: &nextID)
            }
        case .event(var row):
            row.id = nextID
            nextID += 1
            return [.insert(row)]
        case .end(let reference, let device, let time):
            return [.end(reference: reference, device: device, at: time)]
        case .removed(let device):
            merging.forget(device)
            return []
        }
    }
}
