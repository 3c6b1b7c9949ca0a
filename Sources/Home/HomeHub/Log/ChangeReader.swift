import Dispatch
import Foundation
import HomeTypes
import Transport

/// One reader of the change log, with its own place. It holds its place until it is released.
public final class ChangeReader: Sendable {
    /// What the log knows of a reader.
    struct Place {
        let principal: String
        /// The mark of what the reader may read. Its cursors carry it.
        let mark: String
        /// The number of the last entry whose effect is in the state that the reader gets first, or has already. Its cursors
        /// carry it until the reader has reached that entry.
        let stateSequence: Int64
        /// Whether the reader may see entries about a subject.
        let sees: @Sendable (_ subject: String) -> Bool
        /// Whether a subject is a device that the home did not have when the reader got the state.
        let isAbsent: @Sendable (_ subject: String) -> Bool
        /// The number of the last entry that the reader has received or may not see.
        var sequence: Int64
        /// Whether a heartbeat waits for the reader, and how many came since it last asked.
        var heartbeats = 0
        /// Wakes the reader, which is waiting for something new.
        var waiting: CheckedContinuation<Void, Never>?
        /// Called when the reader is cut off, because it may not be reading and would not see the end of its stream.
        let onCutOff: @Sendable () -> Void

        /// Removes and returns the continuations of all waiting readers.
        static func takeWaiting(_ readers: inout [UInt64: Place]) -> [CheckedContinuation<Void, Never>] {
            var waiting: [CheckedContinuation<Void, Never>] = []
            for id in readers.keys {
                if let continuation = readers[id]?.waiting {
                    waiting.append(continuation)
                    readers[id]?.waiting = nil
                }
            }
            return waiting
        }
    }

    private enum Step {
        case entries([PublishedEntry], Place)
        case heartbeat
        case store(Int64)
        case wait
        case cutOff
        case end
    }

    static let cutOff =
        "this stream was read too slowly and ends here; connect again with Last-Event-ID to continue"

    private let log: ChangeLog
    private let id: UInt64
    /// Whether the reader has received the report that it is cut off.
    private let isTold = Locked(false)

    init(_ log: ChangeLog, id: UInt64) {
        self.log = log
        self.id = id
    }

    deinit {
        log.remove(id)
    }

    /// What comes next, a few at a time; nil at the end of the stream or when the task is cancelled.
    public func next() async -> [HomeEvent]? {
        while true {
            if Task.isCancelled { return nil }
            switch step() {
            case .entries(let entries, let place):
                let events = visible(entries, to: place)
                if !events.isEmpty { return events }
            case .heartbeat: return [.heartbeat]
            case .store(let sequence):
                guard let entries = await log.read(after: sequence) else { return report() }
                guard let place = take(entries, after: sequence) else { return report() }
                let events = visible(entries.map { PublishedEntry($0, log: log.identity.log) }, to: place)
                if !events.isEmpty { return events }
            case .wait:
                await wait()
            case .cutOff: return report()
            case .end: return nil
            }
        }
    }

    /// What the reader can have now.
    private func step() -> Step {
        log.state.withLock { state in
            guard var place = state.readers[id] else { return state.isFinished ? .end : .cutOff }
            defer { state.readers[id] = place }
            if place.sequence < state.committed {
                guard let first = state.tail.first?.entry, place.sequence >= first.sequence - 1 else {
                    return .store(place.sequence)
                }
                let start = state.tail.partitioningIndex { $0.entry.sequence > place.sequence }
                // A copy of these few: a slice would make the log copy its whole newest part when the next entry is
                // added.
                let entries = Array(state.tail[start...].prefix(ChangeLog.batch))
                place.sequence = entries.last?.entry.sequence ?? place.sequence
                place.heartbeats = min(place.heartbeats, 1)
                return .entries(entries, place)
            }
            if place.heartbeats > 0 {
                place.heartbeats = 0
                return .heartbeat
            }
            if state.isFinished, state.pending.isEmpty, !state.isWriting { return .end }
            return .wait
        }
    }

    /// Moves past what the store had.
    /// - Returns: the reader's place, or nil if something in between is missing from the store.
    private func take(_ entries: [LogEntry], after sequence: Int64) -> Place? {
        log.state.withLock { state in
            guard var place = state.readers[id] else { return nil }
            let next = entries.first?.sequence ?? state.tail.first?.entry.sequence ?? state.next
            let last = entries.last?.sequence ?? sequence
            guard next == sequence + 1, last == sequence + Int64(entries.count) else { return nil }
            // The store may not have what it failed to accept; the newest part in memory may have it.
            place.sequence = last
            place.heartbeats = min(place.heartbeats, 1)
            state.readers[id] = place
            return place
        }
    }

    private func visible(_ entries: [PublishedEntry], to place: Place) -> [HomeEvent] {
        entries.compactMap { published in
            let entry = published.entry
            // A principal's own entry belongs to nobody else, and does not need a grant.
            guard entry.principal.map({ $0 == place.principal }) ?? place.sees(entry.subject) else { return nil }
            // Only entries that the state does not contain: events, those about the principal's sessions, and the removals of
            // devices. A state without a device does not say whether the device has left the home.
            let isDeparture = entry.effect == .removes && place.isAbsent(entry.subject)
            let isNews = entry.isEvent || entry.principal != nil || isDeparture
            let isInState = entry.sequence <= place.stateSequence && !isNews
            return isInState ? nil : published.event(for: place.mark, state: place.stateSequence)
        }
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = log.state.withLock { state -> Bool in
                    guard let place = state.readers[id] else { return true }
                    if place.sequence < state.committed || place.heartbeats > 0 { return true }
                    if state.isFinished, state.pending.isEmpty, !state.isWriting { return true }
                    if Task.isCancelled { return true }
                    state.readers[id]?.waiting = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            self.log.state.withLock { state in
                defer { state.readers[self.id]?.waiting = nil }
                return state.readers[self.id]?.waiting
            }?.resume()
        }
    }

    private func report() -> [HomeEvent]? {
        let isFirst = isTold.withLock { isTold in
            defer { isTold = true }
            return !isTold
        }
        log.remove(id)
        return isFirst ? [.missed(Self.cutOff)] : nil
    }
}

extension ChangeLog {
    /// How many readers are connected.
    var readerCount: Int { state.withLock { $0.readers.count } }

    /// The principals of the readers, one for each reader.
    var readers: [String] { state.withLock { $0.readers.values.map(\.principal) } }

    /// Adds a reader that begins after a place.
    /// - Parameters:
    ///   - stateSequence: the number of the last entry whose effect is in the state that the reader gets first, or has
    ///     already. Of the entries up to it, it gets the events, those about its principal's sessions, and the removals of
    ///     devices.
    ///   - mark: the mark of what the reader may read (``AccessMark``).
    ///   - sees: whether the reader may see entries about a subject, such as `device/…`.
    ///   - isAbsent: whether a subject is a device that the home does not have. The removal of any other one is in the state.
    public func addReader(
        principal: String, after sequence: Int64, stateSequence: Int64 = 0, mark: String = "",
        sees: @escaping @Sendable (_ subject: String) -> Bool = { _ in true },
        isAbsent: @escaping @Sendable (_ subject: String) -> Bool = { _ in false },
        onCutOff: @escaping @Sendable () -> Void = {}
    ) -> ChangeReader {
        let id = state.withLock { state in
            let id = state.nextReader
            state.nextReader &+= 1
            if !state.isFinished {
                state.readers[id] = ChangeReader.Place(
                    principal: principal, mark: mark, stateSequence: stateSequence, sees: sees,
                    isAbsent: isAbsent, sequence: sequence, onCutOff: onCutOff)
            }
            return id
        }
        return ChangeReader(self, id: id)
    }

    func remove(_ reader: UInt64) {
        state.withLock { $0.readers.removeValue(forKey: reader) }?.waiting?.resume()
    }

    /// Cuts off all readers of a principal. They may connect again with their cursors.
    func removeReaders(of principal: String) {
        let cut = state.withLock { state in
            let cut = state.readers.filter { $0.value.principal == principal }
            for id in cut.keys { state.readers[id] = nil }
            return Array(cut.values)
        }
        for place in cut {
            place.waiting?.resume()
            place.onCutOff()
        }
    }

    /// Sends every reader a heartbeat. A reader that has left several unread is cut off: it holds a place and does not
    /// read.
    func sendHeartbeat() {
        let (waiting, cut) = state.withLock { state in
            var cut: [ChangeReader.Place] = []
            for id in state.readers.keys {
                state.readers[id]?.heartbeats += 1
                if let place = state.readers[id], place.waiting == nil, place.heartbeats > Self.patience {
                    cut.append(place)
                    state.readers[id] = nil
                }
            }
            return (ChangeReader.Place.takeWaiting(&state.readers), cut)
        }
        wake(waiting)
        for place in cut { place.onCutOff() }
        retry()
    }

    /// The place after a cursor; nil for a cursor of another log, and for one whose successors are not all kept.
    func resume(_ text: String) async -> Int64? {
        guard let cursor = LogCursor(text), cursor.log == identity.log else { return nil }
        let found = state.withLock { state -> Bool? in
            guard cursor.sequence < state.next else { return false }
            guard let first = state.tail.first?.entry, cursor.sequence >= first.sequence else { return nil }
            let index = state.tail.partitioningIndex { $0.entry.sequence >= cursor.sequence }
            guard index < state.tail.endIndex else { return cursor.incarnation == identity.incarnation }
            return state.tail[index].entry.incarnation == cursor.incarnation
        }
        if let found { return found ? cursor.sequence : nil }
        await settle()
        let isComplete = await onReadingQueue { store in
            try store.isComplete(after: cursor.sequence, incarnation: cursor.incarnation)
        }
        return isComplete == true ? cursor.sequence : nil
    }

    /// The entries after a number from the store; nil if it cannot be read.
    func read(after sequence: Int64) async -> [LogEntry]? {
        await onReadingQueue { store in
            try store.entries(after: sequence, limit: Self.batch)
        }
    }

    /// The events of a subject, newest first; nil if they cannot be read.
    func events(of subject: String, since: Date?, after text: String?, limit: Int) async -> [LogEntry]? {
        await settle()
        // A cursor of another log is older than everything that is kept here.
        let cursor = text.flatMap(LogCursor.init).flatMap { $0.log == identity.log ? $0.sequence : nil }
        return await onReadingQueue { store in
            try store.events(of: subject, since: since, after: cursor, limit: limit)
        }
    }

    private func onReadingQueue<Value: Sendable>(
        _ body: @escaping @Sendable (any LocalStore) throws -> Value
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            reading.async { continuation.resume(returning: try? body(self.store)) }
        }
    }
}
