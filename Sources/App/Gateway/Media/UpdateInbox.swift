import DatagramPort
import HomeHub
import HomeTypes
import Transport

/// One camera's updates for the home, until the home reads them. They are bounded by time and bytes.
///
/// When there are too many, states that newer ones have replaced are dropped first, and then the oldest presses and
/// detections. The present states always stay.
final class UpdateInbox: Sendable {
    private struct Entry {
        var update: CameraUpdate
        var at: Instant
        var bytes: Int
        /// Its place among all updates.
        var number: UInt64
    }

    /// A task that waits until the home has applied every update before this number.
    private struct Wait {
        var number: UInt64
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var entries: [Entry] = []
        var byteCount = 0
        var dropped = 0
        var isFinished = false
        var waiting: CheckedContinuation<CameraUpdate?, Never>?
        /// The number of the next update.
        var nextNumber: UInt64 = 0
        var applied: [Wait] = []

        /// Removes the waits that are over: the reader comes back for more, so it has applied what it took.
        mutating func takeApplied() -> [Wait] {
            let first = entries.first?.number ?? nextNumber
            let over = applied.filter { $0.number <= first }
            applied.removeAll { $0.number <= first }
            return over
        }

        mutating func remove(_ position: Int) {
            byteCount -= entries.remove(at: position).bytes
            dropped += 1
        }

        /// The oldest state that a newer one has replaced, and the oldest press or detection.
        var dispensable: (replaced: Int?, event: Int?) {
            var newer: Set<Kind> = []
            var result: (replaced: Int?, event: Int?) = (nil, nil)
            for position in entries.indices.reversed() {
                if let kind = Kind(entries[position].update) {
                    if !newer.insert(kind).inserted { result.replaced = position }
                } else {
                    result.event = position
                }
            }
            return result
        }

        mutating func bound(at now: Instant) {
            while let oldest = entries.first, now - oldest.at > UpdateInbox.maximumAge {
                let (replaced, event) = dispensable
                let position = min(replaced ?? .max, event ?? .max)
                guard position < entries.count, now - entries[position].at > UpdateInbox.maximumAge else {
                    break
                }
                remove(position)
            }
            while byteCount > UpdateInbox.maximumBytes {
                let (replaced, event) = dispensable
                guard let position = replaced ?? event else { break }
                remove(position)
            }
        }
    }

    /// Which update replaces which. Presses and detections replace nothing.
    private enum Kind {
        case source
        case eventSource
        case settings

        init?(_ update: CameraUpdate) {
            switch update {
            case .source: self = .source
            case .eventSource: self = .eventSource
            case .settings: self = .settings
            default: return nil
            }
        }
    }

    /// A home that has read nothing for this long has stopped, and a press is out of date.
    static let maximumAge = Duration.seconds(60)
    /// Enough for hundreds of updates with long reasons.
    static let maximumBytes = 64 << 10

    private let state = Locked(State())

    /// How many updates were dropped so far.
    var dropped: Int { state.withLock { $0.dropped } }

    /// How many tasks wait for updates to be applied.
    var waits: Int { state.withLock { $0.applied.count } }

    /// Whether the reader has applied everything and waits.
    var isIdle: Bool { state.withLock { $0.waiting != nil } }

    /// Adds an update.
    func add(_ update: CameraUpdate, at now: Instant = MonotonicClock.now) { add(at: now) { update } }

    /// Reads a present state and adds it; nil adds nothing.
    ///
    /// Several threads report the changes of one camera. The state is read under the lock, so that a thread that read
    /// earlier cannot add later: the home would keep the older state until the next change.
    func add(at now: Instant = MonotonicClock.now, reading read: () -> CameraUpdate?) {
        let delivery = state.withLock { state -> (CheckedContinuation<CameraUpdate?, Never>, CameraUpdate)? in
            guard !state.isFinished, let update = read() else { return nil }
            let number = state.nextNumber
            state.nextNumber += 1
            if let waiting = state.waiting.take() { return (waiting, update) }
            let bytes = Self.size(of: update)
            state.entries.append(Entry(update: update, at: now, bytes: bytes, number: number))
            state.byteCount += bytes
            state.bound(at: now)
            return nil
        }
        if let (waiting, update) = delivery { waiting.resume(returning: update) }
    }

    /// The oldest update, if there is one; nil after the end. Only one caller at a time.
    func next() async -> CameraUpdate? {
        await withCheckedContinuation { continuation in
            let (ready, applied) = state.withLock { state -> (CameraUpdate??, [Wait]) in
                let applied = state.takeApplied()
                if !state.entries.isEmpty {
                    let entry = state.entries.removeFirst()
                    state.byteCount -= entry.bytes
                    return (.some(entry.update), applied)
                }
                if state.isFinished { return (.some(nil), applied) }
                state.waiting = continuation
                return (nil, applied)
            }
            for wait in applied { wait.continuation.resume() }
            if let ready { continuation.resume(returning: ready) }
        }
    }

    /// Returns when the reader has applied every update that was added before: it has come back for the next one. It also
    /// returns at the end.
    func applied() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard !state.isFinished, state.waiting == nil else { return true }
                state.applied.append(Wait(number: state.nextNumber, continuation: continuation))
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// Reading has stopped.
    func finish() {
        let (waiting, applied) = state.withLock { state in
            state.isFinished = true
            state.entries = []
            state.byteCount = 0
            return (state.waiting.take(), state.takeApplied())
        }
        waiting?.resume(returning: nil)
        for wait in applied { wait.continuation.resume() }
    }

    /// Roughly the memory that an update uses.
    private static func size(of update: CameraUpdate) -> Int {
        let fixed = 256
        return switch update {
        case .source(let status): fixed + (status.reason?.utf8.count ?? 0) + status.tracks.count * 64
        case .eventSource(let status): fixed + (status.reason?.utf8.count ?? 0)
        default: fixed
        }
    }
}
