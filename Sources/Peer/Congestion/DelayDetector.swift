import Transport

/// Finds out from the delays of groups whether a queue builds up on the path (draft-ietf-rmcat-gcc-02, section 5.4), with the
/// slope of a line through the newest delays in place of the draft's Kalman filter, as browsers have it.
///
/// The slope alone would take a large key frame for a slow path. So a queue must also be there: even the least delay of the
/// newest groups is longer than the path's shortest.
struct DelayDetector: Sendable {
    /// The line goes through this many delays.
    private static let window = 20
    private static let smoothing = 0.9
    /// The slope is multiplied with this, and with the number of groups up to ``mostGroups``, before it is compared with the
    /// threshold (`T(i)` of section 5.4, in the scale of browsers).
    private static let gain = 4.0
    private static let mostGroups = 60
    /// The threshold's range in milliseconds, and how fast it follows (section 5.4).
    private static let threshold = (initial: 12.5, least: 6.0, most: 600.0)
    private static let adaption = (up: 0.0087, down: 0.039)
    /// The slope must be above the threshold for this long.
    private static let overuseTime = Duration.milliseconds(10)
    /// The queue that must be there, in milliseconds, while it grows, and when it only stays.
    private static let queue = (growing: 12.0, standing: 70.0)
    /// The least delay of the groups in this time, and of so many at least, is the queue.
    private static let leastOf = (time: Duration.milliseconds(100), groups: 4, most: 16)
    /// How long a queue must stay before it is one.
    private static let standingTime = Duration.milliseconds(250)
    /// For how long the shortest delay of the path is believed. Clocks drift apart, and paths change.
    private static let baseTime = Duration.seconds(20)

    private var points: [(at: Double, delay: Double)] = []
    private var groups = 0
    private var first: ArrivalGroups.Group?
    private var smoothed = 0.0
    private var slope = 0.0
    private var limit = threshold.initial
    private var adaptedAt: Instant?
    private var overSince: Instant?
    private var standingSince: Instant?
    private var newest: [ArrivalGroups.Group] = []
    private var step = LatencyStep()
    /// The shortest delays of the current and the former part of ``baseTime``.
    private var base = (now: Double.infinity, before: Double.infinity, since: Instant.zero)
    private var found = PathUsage.normal

    /// What the newest groups show.
    var usage: PathUsage { found == .overuse && step.isPossible ? .normal : found }

    /// How long packets wait on the path, in milliseconds, as far as this can be determined.
    var queueDelay: Double {
        let shortest = min(base.now, base.before)
        guard let least = newest.min(by: { $0.delay < $1.delay }), shortest.isFinite else { return 0 }
        return max(0, least.delay - shortest)
    }

    /// How long a packet has waited on the path, in milliseconds.
    func wait(sentAt: Instant, arrival: Int64) -> Double {
        let shortest = min(base.now, base.before)
        return shortest.isFinite ? ArrivalGroups.delay(sentAt: sentAt, arrival: arrival) - shortest : 0
    }

    /// The rate has been lowered because of a queue.
    mutating func recordDecrease() { step.recordDecrease() }

    /// Counts a packet that has arrived at `arrival`, in units of 250 µs.
    mutating func recordArrival(bytes: Int, sentAt: Instant, at arrival: Int64) {
        step.recordArrival(bytes: bytes, sentAt: sentAt, at: arrival)
    }

    /// Counts a packet that is missing.
    /// - Parameter usual: the share of packets that the path loses anyway, 0 to 1.
    mutating func recordMissing(usual: Double) { step.recordMissing(usual: usual) }

    /// Takes the delay of a group.
    /// - Returns: whether the way has turned out to be longer than before, so that the waits until now were none.
    mutating func record(_ group: ArrivalGroups.Group) -> Bool {
        recordBase(group)
        if newest.count == Self.leastOf.most { newest.removeFirst() }
        newest.append(group)
        while newest.count > Self.leastOf.groups, group.sentAt - newest[0].sentAt > Self.leastOf.time {
            newest.removeFirst()
        }
        if let least = newest.lazy.map(\.delay).min(),
            let rise = step.record(least, queue: queueDelay, at: group.sentAt)
        {
            moveBase(by: rise)
            return true
        }
        let first = self.first ?? group
        self.first = first
        groups += 1
        let before = slope
        smoothed = Self.smoothing * smoothed + (1 - Self.smoothing) * (group.delay - first.delay)
        points.append(((group.sentAt - first.sentAt).inMilliseconds, smoothed))
        if points.count > Self.window { points.removeFirst() }
        slope = Self.slope(of: points)
        judge(at: group.sentAt, before: before)
        return false
    }

    /// The way has become longer. A queue that was there before is still one.
    private mutating func moveBase(by rise: Double) {
        base.now += rise
        base.before += rise
        (points, groups, first, smoothed, slope) = ([], 0, nil, 0, 0)
        (overSince, standingSince, found) = (nil, nil, .normal)
    }

    private mutating func recordBase(_ group: ArrivalGroups.Group) {
        if group.sentAt - base.since > Self.baseTime / 2 {
            base = (group.delay, base.now, group.sentAt)
        } else {
            base.now = min(base.now, group.delay)
        }
    }

    private mutating func judge(at now: Instant, before: Double) {
        let trend = slope * Double(min(groups, Self.mostGroups)) * Self.gain
        let queue = queueDelay
        if trend > limit, queue >= Self.queue.growing {
            let since = overSince ?? now
            overSince = since
            found =
                now - since > Self.overuseTime && slope >= before ? .overuse : found == .overuse ? .overuse : .normal
        } else {
            overSince = nil
            found = trend < -limit ? .underuse : .normal
        }
        if queue >= Self.queue.standing, found != .underuse {
            let since = standingSince ?? now
            standingSince = since
            if now - since >= Self.standingTime { found = .overuse }
        } else {
            standingSince = nil
        }
        adapt(to: abs(trend), at: now)
    }

    private mutating func adapt(to trend: Double, at now: Instant) {
        defer { adaptedAt = now }
        // A sudden step, as when a phone changes networks, is not a new normal (section 5.4).
        guard let adaptedAt, trend <= limit + 15 else { return }
        let time = min((now - adaptedAt).inMilliseconds, 100)
        limit += (trend - limit) * (trend < limit ? Self.adaption.down : Self.adaption.up) * time
        limit = min(max(limit, Self.threshold.least), Self.threshold.most)
    }

    /// The slope of the line through the points with the least sum of squares.
    private static func slope(of points: [(at: Double, delay: Double)]) -> Double {
        guard points.count >= 4 else { return 0 }
        let count = Double(points.count)
        let middle = points.reduce(into: (at: 0.0, delay: 0.0)) { sum, point in
            sum.at += point.at / count
            sum.delay += point.delay / count
        }
        let sums = points.reduce(into: (up: 0.0, down: 0.0)) { sums, point in
            sums.up += (point.at - middle.at) * (point.delay - middle.delay)
            sums.down += (point.at - middle.at) * (point.at - middle.at)
        }
        return sums.down > 0 ? sums.up / sums.down : 0
    }
}
