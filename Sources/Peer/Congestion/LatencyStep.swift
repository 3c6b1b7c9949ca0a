import Transport

/// Recognizes that the way of the packets has become longer for good, as when a route changes: the shortest delay rises at
/// once, and stays as it is from then on. A queue is different. It grows on and on, it drains, or it has no room left and
/// packets are lost. And packets that left together come out of a queue only as fast as the line takes them, so if they come
/// faster than the mean rate, no queue grows.
///
/// What it looks at is the least delay of the newest groups, in milliseconds, so that the queue behind a single frame counts
/// for little.
struct LatencyStep: Sendable {
    /// The least rise.
    private static let rise = 15.0
    /// How much a delay may vary and still stay as it is: as a share of the rise, and its bounds.
    private static let tolerance = (share: 0.2, least: 6.0, most: 20.0)
    /// How long the delay must have stayed as it was before the rise, how long the rise may take, and how long the delay has to
    /// stay as it is after it.
    private static let time = (
        before: Duration.milliseconds(200), rise: Duration.milliseconds(100), after: Duration.milliseconds(500)
    )
    /// How many more packets than usual may be missing after the rise: a few, and a share of all.
    private static let missing = (few: 3.0, share: 0.02, usual: 1.5)
    /// How long the delay stays as it is, and how often the rate is lowered meanwhile because of a queue that is none.
    private static let undrained = (time: Duration.seconds(1), decreases: 2)
    /// By how much faster than the mean rate packets that left together have to come, and over how many seconds that rate is
    /// taken.
    private static let fast = (multiple: 1.15, mean: 2.0)

    /// A time in which the delay stays as it is.
    private struct Level {
        var delay: Double
        var since: Instant
        /// The delay before it, and when that ended; nil unless it may be a step.
        var before: (delay: Double, until: Instant)?
        var packets = 0
        var missing = 0
        /// How often the rate was lowered because of a queue.
        var decreases = 0

        var rise: Double { before.map { delay - $0.delay } ?? 0 }

        func contains(_ delay: Double) -> Bool {
            let tolerance = LatencyStep.tolerance
            return abs(delay - self.delay) <= min(max(rise * tolerance.share, tolerance.least), tolerance.most)
        }
    }

    private var level: Level?
    /// The newest packets that left together: their bytes without the first one's, and the time that they took to come, in
    /// units of 250 µs.
    private var together = (bytes: 0.0, time: 0.0)
    private var last: (sentAt: Instant, arrival: Int64)?
    /// What was sent in a second, in bytes.
    private var mean = 0.0

    /// Whether the delay has risen at once, and it is not known yet whether it stays as it is.
    var isPossible: Bool {
        level?.before != nil && together.bytes * 4_000 >= mean * Self.fast.multiple * together.time
    }

    /// Counts a packet that has arrived at `arrival`, in units of 250 µs on the peer's clock.
    mutating func recordArrival(bytes: Int, sentAt: Instant, at arrival: Int64) {
        level?.packets += 1
        guard let last else {
            self.last = (sentAt, arrival)
            return
        }
        guard sentAt >= last.sentAt, arrival >= last.arrival else { return }
        let seconds = min((sentAt - last.sentAt).inSeconds, Self.fast.mean)
        mean += (Double(bytes) - mean * seconds) / Self.fast.mean
        if sentAt == last.sentAt {
            together.bytes += Double(bytes)
            together.time += Double(arrival - last.arrival)
        } else {
            together.bytes /= 2
            together.time /= 2
        }
        self.last = (sentAt, arrival)
    }

    /// Counts a packet that is missing.
    /// - Parameter usual: the share of packets that the path loses anyway, 0 to 1.
    mutating func recordMissing(usual: Double) {
        level?.packets += 1
        level?.missing += 1
        guard let level, level.before != nil else { return }
        let share = Self.missing.share + usual * Self.missing.usual
        if Double(level.missing) > max(Self.missing.few, Double(level.packets) * share) { self.level?.before = nil }
    }

    /// The rate has been lowered because of a queue.
    mutating func recordDecrease() { level?.decreases += 1 }

    /// Takes the least delay of the newest groups.
    /// - Parameter queue: by how much it is longer than the shortest.
    /// - Returns: by how much the way has become longer; nil if it has not.
    mutating func record(_ delay: Double, queue: Double, at now: Instant) -> Double? {
        guard let former = level else {
            level = Level(delay: delay, since: now)
            return nil
        }
        guard former.contains(delay) else {
            begin(delay, after: former, at: now)
            return nil
        }
        if former.decreases >= Self.undrained.decreases, now - former.since >= Self.undrained.time,
            Double(former.missing) <= max(Self.missing.few, Double(former.packets) * Self.missing.share)
        {
            level = Level(delay: delay, since: now)
            return queue
        }
        guard isPossible, now - former.since >= Self.time.after else { return nil }
        level?.before = nil
        return former.rise
    }

    private mutating func begin(_ delay: Double, after former: Level, at now: Instant) {
        var next = Level(delay: delay, since: now)
        if let before = former.before, delay > former.delay, now - before.until <= Self.time.rise {
            // The newest groups are still some of before.
            next.before = before
            (next.packets, next.missing) = (former.packets, former.missing)
        } else if delay - former.delay >= Self.rise, now - former.since >= Self.time.before {
            next.before = (former.delay, now)
        }
        level = next
    }
}
