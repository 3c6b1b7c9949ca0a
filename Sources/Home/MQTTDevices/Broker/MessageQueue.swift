import Transport

/// The messages between the broker's thread and the home, bounded in bytes and in time. A topic that is published too
/// often delivers only its newest message, so that one device cannot keep the home busy.
struct MessageQueue: Sendable {
    /// The limits.
    struct Limits: Sendable {
        /// The messages of one topic per second, and how many may come at once.
        var topicRate = 20.0
        var topicBurst = 40.0
        /// The messages of all topics per second, and how many may come at once: all that a large home has retained.
        var totalRate = 2_000.0
        var totalBurst = 10_000.0
        /// The bytes that wait, with topics.
        var bytes = 16 << 20
        /// The number of topics whose rate is known.
        var topics = 50_000
    }

    /// What was dropped.
    struct Counts: Sendable, Hashable {
        /// Messages that a newer one of the same topic replaced.
        var superseded: UInt64 = 0
        /// Messages that did not find room.
        var dropped: UInt64 = 0
    }

    private static let pauseBetweenSearches = Duration.milliseconds(250)

    private struct Lane {
        var tokens: Double
        var refilled: Instant
        /// The newest message, while the topic is over its rate.
        var held: MQTTMessage?
    }

    private let limits: Limits
    private var lanes: [String: Lane] = [:]
    private var ready: [MQTTMessage] = []
    private var readyStart = 0
    /// The topics over their rate, and when each may deliver its newest message. Thousands of topics may wait for each
    /// message that is read.
    private var held: Set<String> = []
    private var turns = DeadlineQueue<String>()
    private var bytes = 0
    private var total: (tokens: Double, refilled: Instant?)
    private(set) var counts = Counts()
    /// When the topics were last searched for quiet ones.
    private var searched: Instant?
    /// The newest connection over which a retained message came that did not find room.
    private var overflowed: UInt64?

    init(limits: Limits = Limits()) {
        self.limits = limits
        total = (limits.totalBurst, nil)
    }

    /// Whether nothing waits.
    var isEmpty: Bool { !isReady && held.isEmpty }

    /// Whether a message is waiting whose topic is within its rate.
    private var isReady: Bool { readyStart < ready.count }

    /// Whether a retained message of a connection still waits, or did not find room.
    func lacksRetained(of connection: UInt64) -> Bool {
        func isOne(_ message: MQTTMessage) -> Bool { message.isRetained && message.connection == connection }
        return overflowed == connection || ready[readyStart...].contains(where: isOne)
            || held.contains { lanes[$0]?.held.map(isOne) ?? false }
    }

    private static func size(_ message: MQTTMessage) -> Int { message.payload.count + message.topic.utf8.count + 64 }

    /// Adds a message.
    /// - Returns: whether to wake the reader, because nothing was waiting before, or only messages of topics that are
    ///   over their rate.
    @discardableResult
    mutating func add(_ message: MQTTMessage, at now: Instant) -> Bool {
        let (wasEmpty, wasReady) = (isEmpty, isReady)
        insert(message, at: now)
        return wasEmpty ? !isEmpty : !wasReady && isReady
    }

    private mutating func insert(_ message: MQTTMessage, at now: Instant) {
        let topic = message.topic
        let size = Self.size(message)
        let freed = lanes[topic]?.held.map(Self.size) ?? 0
        guard bytes + size - freed <= limits.bytes, lanes[topic] != nil || makeRoomForLane(at: now) else {
            counts.dropped += 1
            if message.isRetained { overflowed = message.connection }
            return
        }
        var lane = lanes[topic] ?? Lane(tokens: limits.topicBurst, refilled: now)
        refill(&lane, at: now)
        bytes += size - freed
        if lane.held == nil, lane.tokens >= 1 {
            lane.tokens -= 1
            ready.append(message)
        } else {
            if lane.held != nil { counts.superseded += 1 }
            lane.held = message
            if held.insert(topic).inserted {
                turns.schedule(topic, at: now + .seconds(max(1 - lane.tokens, 0) / limits.topicRate))
            }
        }
        lanes[topic] = lane
    }

    private func refill(_ lane: inout Lane, at now: Instant) {
        lane.tokens = min(lane.tokens + Self.seconds(now - lane.refilled) * limits.topicRate, limits.topicBurst)
        lane.refilled = now
    }

    private static func seconds(_ duration: Duration) -> Double { max(Double(duration.wholeNanoseconds) / 1e9, 0) }

    /// Forgets the topics that have been quiet for so long that their limits are those of a new topic.
    private mutating func makeRoomForLane(at now: Instant) -> Bool {
        guard lanes.count >= limits.topics else { return true }
        // Each message could be of another topic, and a search costs more than thousands of messages.
        if let searched, now - searched < Self.pauseBetweenSearches { return false }
        searched = now
        let rest = limits.topicBurst / limits.topicRate
        lanes = lanes.filter { $0.value.held != nil || Self.seconds(now - $0.value.refilled) < rest }
        return lanes.count < limits.topics
    }

    /// Removes the next messages.
    /// - Returns: the messages, and when there are more: now, later, or not at all.
    mutating func take(upTo count: Int, at now: Instant) -> (messages: [MQTTMessage], next: Instant?) {
        let elapsed = total.refilled.map { Self.seconds(now - $0) } ?? 0
        total = (min(total.tokens + elapsed * limits.totalRate, limits.totalBurst), now)
        let allowed = min(count, Int(nearestTo: total.tokens.rounded(.down)))
        var result: [MQTTMessage] = []
        while result.count < allowed, readyStart < ready.count {
            result.append(ready[readyStart])
            readyStart += 1
        }
        if readyStart == ready.count {
            ready.removeAll(keepingCapacity: ready.capacity <= 4_096)
            readyStart = 0
        }
        while result.count < allowed, let topic = turns.popDue(at: now) {
            held.remove(topic)
            guard var lane = lanes[topic], let message = lane.held else { continue }
            refill(&lane, at: now)
            lane.tokens -= 1
            lane.held = nil
            lanes[topic] = lane
            result.append(message)
        }
        for message in result { bytes -= Self.size(message) }
        total.tokens -= Double(result.count)
        return (result, next(at: now))
    }

    private func next(at now: Instant) -> Instant? {
        guard !isEmpty else { return nil }
        let forTotal = total.tokens >= 1 ? now : now + .seconds((1 - total.tokens) / limits.totalRate)
        guard readyStart == ready.count else { return forTotal }
        return max(forTotal, turns.next ?? now)
    }
}
