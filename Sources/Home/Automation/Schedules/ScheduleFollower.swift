/// Follows one rule by the system's clock, and decides what runs, what runs late, and what is missed.
///
/// A moment that has run does not run again within two days, however often and however far the clock is set in between.
public struct ScheduleFollower: Sendable {
    /// What has become due since the last check.
    public struct Due: Sendable, Hashable {
        /// The moment that runs now, in seconds since 1970; nil for none.
        public var run: Int?
        /// How many moments are not made up for.
        public var missedCount: Int
        /// The last of these; nil for none.
        public var lastMissed: Int?

        /// Describes what has become due.
        public init(run: Int?, missedCount: Int, lastMissed: Int?) {
            self.run = run
            self.missedCount = missedCount
            self.lastMissed = lastMissed
        }
    }

    /// Everything until then has been decided, in seconds since 1970.
    public private(set) var decidedUntil: Int
    /// The moments that have run in the last days, each with the time on a clock that is never set, in milliseconds.
    /// They become due again when the wall clock is set back, but do not run again.
    private(set) var alreadyRun: [Int: Int64] = [:]

    /// The rule.
    let rule: ScheduleRule
    /// How late a moment may run, in seconds.
    private let grace: Int

    /// For how long a moment that has run is remembered, in milliseconds.
    private static let remembered: Int64 = 2 * 86_400_000
    /// About how many moments of a pause are counted.
    private static let lookLimit = 10_000

    /// Begins at a moment, which is not itself due.
    /// - Parameter alreadyRun: moments that have run, each with the time on the clock that is never set.
    public init(
        _ rule: ScheduleRule, graceInSeconds grace: Int = 900, since seconds: Int, alreadyRun: [Int: Int64] = [:]
    ) {
        self.rule = rule
        self.grace = grace
        decidedUntil = seconds
        self.alreadyRun = alreadyRun
    }

    /// Decides the moments up to now.
    ///
    /// Of several moments within the grace, only the last one runs, so that a pause is not followed by a burst.
    /// - Parameters:
    ///   - now: the wall clock, in seconds since 1970.
    ///   - uptime: a clock that is never set, in milliseconds.
    public mutating func look(at now: Int, uptime: Int64, place: SchedulePlace) -> Due {
        var due = Due(run: nil, missedCount: 0, lastMissed: nil)
        guard now >= decidedUntil else {
            // The clock was set back. What has run already does not run again.
            decidedUntil = now
            return due
        }
        alreadyRun = alreadyRun.filter { $0.value > uptime - Self.remembered }
        var moments = rule.moments(after: decidedUntil, through: now, limit: Self.lookLimit, at: place)
        if moments.count >= Self.lookLimit {
            // After a very long pause, not every moment is counted, but the last ones are checked.
            let recent = max(moments[moments.count - 1], now - grace - 1)
            moments += rule.moments(after: recent, through: now, limit: .max, at: place)
        }
        for moment in moments { take(moment, now, &due) }
        decidedUntil = now
        if let run = due.run { alreadyRun[run] = uptime }
        return due
    }

    private func take(_ moment: Int, _ now: Int, _ due: inout Due) {
        guard alreadyRun[moment] == nil else { return }
        let missed = now - moment > grace ? moment : due.run
        if now - moment <= grace { due.run = moment }
        guard let missed else { return }
        due.missedCount += 1
        due.lastMissed = max(due.lastMissed ?? missed, missed)
    }

    /// When to check next: the next moment that has not run yet; nil for none.
    public func nextLook(after now: Int, place: SchedulePlace) -> Int? {
        var last = max(now, decidedUntil)
        while let moment = rule.next(after: last, at: place) {
            guard alreadyRun[moment] != nil else { return moment }
            last = moment
        }
        return nil
    }
}
