import HomeTypes
import Signalling

/// Sends every change to every watcher, and keeps the latest changes for watchers that return.
///
/// A watcher that reads too slowly is cut off, so it costs a bounded amount of memory. Its stream then ends with
/// ``HomeChange/missed(reason:)``. It returns with the place of the last event that it read, and gets the present state
/// again and the presses and detections after that place. The stream keeps as much as a watcher can lag behind.
struct ChangeStream {
    private struct Watcher {
        let principal: String
        let continuation: AsyncStream<HomeEvent>.Continuation
        /// Called when the watcher is cut off, because it may not be reading and would not see the end of its stream.
        let onCutOff: @Sendable () -> Void
    }

    /// How many changes a watcher may lag behind, in addition to the state that it is sent first.
    static let watcherCapacity = 256
    /// How many presses and detections are kept for watchers that return.
    static let replayCapacity = 512

    private let run: String
    private let places: PlaceShares
    private var nextNumber: UInt64 = 1
    private var watchers: [UInt64: Watcher] = [:]
    private var nextWatcher: UInt64 = 0
    private var recent: [(number: UInt64, event: HomeEvent)] = []
    /// The number of the newest press or detection that is no longer kept.
    private var newestDropped: UInt64 = 0
    private(set) var isFinished = false

    /// - Parameters:
    ///   - run: a name of this run of the process, so that places of an earlier run are not mistaken.
    ///   - places: how many may watch, and who how many.
    init(run: String, places: PlaceShares) {
        self.run = run
        self.places = places
    }

    var watcherCount: Int { self.watchers.count }

    /// Why `principal` may not watch as well; nil where it may.
    func refusal(of principal: String) -> PlaceShares.Refusal? {
        self.places.refusal(of: principal, holders: self.watchers.values.lazy.map(\.principal))
    }

    @discardableResult
    mutating func publish(_ change: HomeChange) -> HomeEvent {
        let event: HomeEvent
        if case .heartbeat = change {
            event = HomeEvent(id: "", change: change)
        } else {
            event = HomeEvent(id: self.place(self.nextNumber), change: change)
            if Self.isReplayed(change) { self.keep(event) }
            self.nextNumber &+= 1
        }
        for (id, watcher) in self.watchers where Self.mayHear(watcher.principal, of: change) {
            // One place is left for the message that the watcher is cut off.
            if case .enqueued(remaining: 2...) = watcher.continuation.yield(event) { continue }
            watcher.continuation.yield(HomeEvent(id: "", change: .missed(reason: Self.cutOff)))
            watcher.continuation.finish()
            self.watchers[id] = nil
            watcher.onCutOff()
        }
        return event
    }

    private static let cutOff =
        "this stream was read too slowly and ends here; connect again with Last-Event-ID to go on"
    private static let gap =
        "events since Last-Event-ID are not all here any more; GET /v1/devices/{device}/events lists those of a device"

    /// Adds a watcher. It gets all of `initial` first, however long that is, then what it missed since `lastEventID`,
    /// then the new changes.
    mutating func addWatcher(
        principal: String, initial: [HomeChange], lastEventID: String?, onCutOff: @escaping @Sendable () -> Void = {},
        onTermination: @escaping @Sendable (UInt64) -> Void
    ) -> AsyncStream<HomeEvent> {
        let missed = self.missed(since: lastEventID, by: principal)
        // The present state carries the place of the newest change. A watcher that leaves right away returns to what it
        // has not seen. If missed events follow the state, it carries the place that the watcher came with.
        let place = missed.isEmpty ? self.place(self.nextNumber &- 1) : lastEventID ?? ""
        let events = initial.map { HomeEvent(id: place, change: $0) } + missed
        let (stream, continuation) = AsyncStream.makeStream(
            of: HomeEvent.self, bufferingPolicy: .bufferingOldest(events.count + Self.watcherCapacity + 1))
        guard !self.isFinished else {
            continuation.finish()
            return stream
        }
        for event in events { continuation.yield(event) }
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

    private func place(_ number: UInt64) -> String { "\(self.run)-\(number)" }

    private mutating func keep(_ event: HomeEvent) {
        self.recent.append((self.nextNumber, event))
        if self.recent.count > Self.replayCapacity { self.newestDropped = self.recent.removeFirst().number }
    }

    /// The presses and detections that a returning watcher missed, and a message about those that are no longer kept.
    private func missed(since lastEventID: String?, by principal: String) -> [HomeEvent] {
        guard let lastEventID, let dash = lastEventID.lastIndex(of: "-"),
            let number = UInt64(lastEventID[lastEventID.index(after: dash)...])
        else { return [] }
        let gap = HomeEvent(id: "", change: .missed(reason: Self.gap))
        // Events of another run cannot be counted.
        guard lastEventID[..<dash] == self.run else { return lastEventID[..<dash].isEmpty ? [] : [gap] }
        let kept = self.recent.lazy.filter { $0.number > number && Self.mayHear(principal, of: $0.event.change) }
        return (number < self.newestDropped ? [gap] : []) + kept.map(\.event)
    }

    /// Devices and sessions are not repeated: their state is sent anyway.
    private static func isReplayed(_ change: HomeChange) -> Bool {
        switch change {
        case .doorbellPressed, .detection: true
        case .device, .deviceAdded, .deviceRemoved, .session, .missed, .heartbeat: false
        }
    }

    /// Only the owner of a session may see it.
    private static func mayHear(_ principal: String, of change: HomeChange) -> Bool {
        guard case .session(_, let snapshot) = change else { return true }
        return snapshot.session.principal == principal
    }
}
