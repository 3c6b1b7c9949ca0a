import HomeTypes
import Signalling

/// Hands every change to every watcher, and keeps the latest for watchers that come back.
///
/// A watcher that reads too slowly is cut off, so that it costs a bounded amount of memory; it reconnects and is told
/// the present state again.
struct ChangeStream {
    private struct Watcher {
        let principal: String
        let continuation: AsyncStream<HomeEvent>.Continuation
        /// Called when it is cut off, because it may not be reading and would not see its stream's end.
        let onCutOff: @Sendable () -> Void
    }

    /// How many changes a watcher may lag behind.
    static let watcherCapacity = 256
    /// How many changes are kept for watchers that come back.
    static let replayCapacity = 64

    private let run: String
    private var nextNumber: UInt64 = 1
    private var watchers: [UInt64: Watcher] = [:]
    private var nextWatcher: UInt64 = 0
    private var recent: [(number: UInt64, event: HomeEvent)] = []
    private(set) var isFinished = false

    /// - Parameter run: a name of this run of the process, so that places of an earlier run are not mistaken.
    init(run: String) {
        self.run = run
    }

    var watcherCount: Int { self.watchers.count }

    @discardableResult
    mutating func publish(_ change: HomeChange) -> HomeEvent {
        let event: HomeEvent
        if case .heartbeat = change {
            event = HomeEvent(id: "", change: change)
        } else {
            event = HomeEvent(id: "\(self.run)-\(self.nextNumber)", change: change)
            self.recent.append((self.nextNumber, event))
            if self.recent.count > Self.replayCapacity { self.recent.removeFirst() }
            self.nextNumber &+= 1
        }
        for (id, watcher) in self.watchers where Self.mayHear(watcher.principal, of: change) {
            switch watcher.continuation.yield(event) {
            case .enqueued: break
            default:
                watcher.continuation.finish()
                self.watchers[id] = nil
                watcher.onCutOff()
            }
        }
        return event
    }

    /// Adds a watcher: `initial` first, then what it missed since `lastEventID`, then what comes.
    mutating func addWatcher(
        principal: String, initial: [HomeChange], lastEventID: String?, onCutOff: @escaping @Sendable () -> Void = {},
        onTermination: @escaping @Sendable (UInt64) -> Void
    ) -> AsyncStream<HomeEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: HomeEvent.self, bufferingPolicy: .bufferingOldest(Self.watcherCapacity))
        guard !self.isFinished else {
            continuation.finish()
            return stream
        }
        // The state as it stands carries the place of the newest change, so that a watcher that leaves right away
        // comes back to what it has not seen.
        let place = "\(self.run)-\(self.nextNumber &- 1)"
        for change in initial { continuation.yield(HomeEvent(id: place, change: change)) }
        for event in self.missed(since: lastEventID) where Self.mayHear(principal, of: event.change) {
            continuation.yield(event)
        }
        let id = self.nextWatcher
        self.nextWatcher &+= 1
        continuation.onTermination = { _ in onTermination(id) }
        self.watchers[id] = Watcher(principal: principal, continuation: continuation, onCutOff: onCutOff)
        return stream
    }

    mutating func removeWatcher(_ id: UInt64) {
        self.watchers[id] = nil
    }

    mutating func finish() {
        self.isFinished = true
        for watcher in self.watchers.values { watcher.continuation.finish() }
        self.watchers = [:]
    }

    /// Presses and detections that a returning watcher missed. Devices and sessions are not repeated: their state is sent anyway.
    private func missed(since lastEventID: String?) -> [HomeEvent] {
        guard let lastEventID, let dash = lastEventID.lastIndex(of: "-"), lastEventID[..<dash] == self.run,
            let number = UInt64(lastEventID[lastEventID.index(after: dash)...])
        else { return [] }
        return self.recent.compactMap { entry in
            guard entry.number > number else { return nil }
            switch entry.event.change {
            case .doorbellPressed, .detection: return entry.event
            default: return nil
            }
        }
    }

    /// A session is nobody's business but its owner's.
    private static func mayHear(_ principal: String, of change: HomeChange) -> Bool {
        guard case .session(_, let snapshot) = change else { return true }
        return snapshot.session.principal == principal
    }
}
