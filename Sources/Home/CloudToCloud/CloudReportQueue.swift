public import Transport

/// What must still be reported to one linked account: that its list of devices has changed, and the newest states of
/// its devices. The queue has neither a clock nor I/O: the caller passes the time and the outcome of each message.
///
/// Only the newest state of a device is kept, so the queue never has more entries than the home has devices. One
/// message is sent at a time.
public struct CloudReportQueue: Sendable {
    /// How long changes are collected before they are reported together.
    public static let collecting = Duration.milliseconds(500)
    /// The maximum number of devices that wait. Further ones are counted, and reported when there is room.
    public static let capacity = 2_000
    /// The maximum number of devices in one message.
    public static let batch = 100
    /// The maximum pause after a receiver has refused.
    public static let longestPause = Duration.seconds(900)

    /// The next message.
    public enum Message: Sendable, Equatable {
        /// Asks the cloud to request the list of devices again.
        case requestSync
        /// States by the ids of the devices.
        case states([String: JSONValue])
    }

    /// The outcome of a message.
    public enum Outcome: Sendable, Equatable {
        /// The receiver has it.
        case accepted
        /// The receiver will never accept it.
        case refused
        /// The receiver could not accept it now. It may have said how long to wait.
        case failed(retryAfter: Duration?)
    }

    /// What the receiver last accepted.
    private var known: [String: JSONValue] = [:]
    private var waiting: [String: JSONValue] = [:]
    private var needsSync = false
    private var inFlight: Message?
    /// Whether the receiver has asked for all devices since the message that has no outcome yet was sent, so that the
    /// message may have arrived before that.
    private var isOutdated = false
    /// When the next message may go; nil while nothing waits.
    private var dueAt: Instant?
    private var pausedUntil: Instant?
    private var failures = 0

    /// How many states did not find room.
    public private(set) var overflowed: UInt64 = 0
    /// How many messages were accepted, refused and failed.
    public private(set) var accepted: UInt64 = 0
    public private(set) var refused: UInt64 = 0
    public private(set) var failed: UInt64 = 0
    /// Whether a state did not find room, so that all states must be added again once the queue is empty.
    public private(set) var isIncomplete = false

    /// An empty queue.
    public init() {}

    /// Adds the state of a device. A state that the receiver has, or that is being sent, is not sent again.
    public mutating func record(_ states: JSONValue, of id: String, at now: Instant) {
        var latest = known[id]
        if !isOutdated, case .states(let sent)? = inFlight, let state = sent[id] { latest = state }
        guard latest != states else {
            waiting[id] = nil
            return
        }
        guard waiting[id] != nil || waiting.count < Self.capacity else {
            overflowed &+= 1
            isIncomplete = true
            return
        }
        waiting[id] = states
        collect(at: now)
    }

    /// Records that devices were added or removed, or that their descriptions changed.
    public mutating func recordDevices(at now: Instant) {
        needsSync = true
        collect(at: now)
    }

    /// Forgets devices that the account no longer has. If the message that is being sent fails, it is not repeated for
    /// them either: the receiver refuses a message as a whole if it names a device that the receiver does not know.
    public mutating func keep(only ids: Set<String>) {
        known = known.filter { ids.contains($0.key) }
        waiting = waiting.filter { ids.contains($0.key) }
        if case .states(let sent)? = inFlight { inFlight = .states(sent.filter { ids.contains($0.key) }) }
    }

    /// Forgets what the receiver knows, because it has asked for all devices and now wants their states.
    public mutating func forget() {
        known = [:]
        isIncomplete = false
        isOutdated = true
    }

    /// When there is something to do; nil while nothing waits, and while a message is being sent.
    public var deadline: Instant? {
        guard inFlight == nil, needsSync || !waiting.isEmpty, let dueAt else { return nil }
        return max(dueAt, pausedUntil ?? dueAt)
    }

    /// What to send now; nil if it is not time yet. ``finish(_:at:jitter:)`` must follow.
    public mutating func next(at now: Instant) -> Message? {
        guard let deadline, deadline <= now else { return nil }
        let message: Message
        if needsSync {
            needsSync = false
            message = .requestSync
        } else {
            let ids = waiting.keys.sorted().prefix(Self.batch)
            message = .states(Dictionary(uniqueKeysWithValues: ids.compactMap { id in waiting[id].map { (id, $0) } }))
            for id in ids { waiting[id] = nil }
        }
        inFlight = message
        isOutdated = false
        return message
    }

    /// Records the outcome of the message.
    /// - Parameter jitter: a random number from 0 to 1, so that many gateways do not try again at the same moment.
    public mutating func finish(_ outcome: Outcome, at now: Instant, jitter: Double) {
        guard let message = inFlight else { return }
        inFlight = nil
        switch outcome {
        case .accepted:
            accepted &+= 1
            failures = 0
            pausedUntil = nil
            if !isOutdated, case .states(let states) = message { known.merge(states) { $1 } }
        case .refused:
            refused &+= 1
            failures = 0
        case .failed(let retryAfter):
            failed &+= 1
            failures += 1
            pausedUntil = now + pause(retryAfter, jitter)
            switch message {
            case .requestSync: needsSync = true
            // What was queued in the meantime is newer.
            case .states(let states): waiting.merge(states) { newer, _ in newer }
            }
        }
        dueAt = needsSync || !waiting.isEmpty ? now : nil
    }

    private mutating func collect(at now: Instant) {
        if dueAt == nil { dueAt = now + Self.collecting }
    }

    /// The pause starts at a second, doubles after each failure, and is never shorter than the receiver has asked for.
    private func pause(_ retryAfter: Duration?, _ jitter: Double) -> Duration {
        let seconds = min(pow2(min(failures - 1, 20)), Self.longestPause.inSeconds)
        let own = Duration.milliseconds(Int(seconds * 1_000 * (0.5 + min(max(jitter, 0), 1) / 2)))
        return max(own, min(retryAfter ?? .zero, Self.longestPause))
    }

    private func pow2(_ exponent: Int) -> Double { Double(1 << max(exponent, 0)) }
}
