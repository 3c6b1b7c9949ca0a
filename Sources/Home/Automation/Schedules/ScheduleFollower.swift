/// Follows one rule by the system's clock, and decides what runs, what runs late, and what is missed.
///
/// It keeps its state in a value that can be stored. A clock that is set forward, or back by up to two days,
/// never runs the same moment twice.
public struct ScheduleFollower: Sendable {
    /// What has come since the last look.
    public struct Due: Sendable, Hashable {
        /// The moment that runs now, in seconds since 1970; nil for none.
        public var run: Int?
        /// How many moments are not made up for.
        public var missedCount: Int
        /// The last of these; nil for none.
        public var lastMissed: Int?

        /// Describes what has come.
        public init(run: Int?, missedCount: Int, lastMissed: Int?) {
            self.run = run
            self.missedCount = missedCount
            self.lastMissed = lastMissed
        }
    }

    /// Everything until then has been decided, in seconds since 1970.
    public private(set) var decidedUntil: Int
    /// The moments of the last days that have run. They come again when the clock is set back, and do not run again.
    public private(set) var alreadyRun: Set<Int> = []

    /// The rule.
    let rule: ScheduleRule
    /// How late a moment may run, in seconds.
    private let grace: Int

    /// How far a clock can be set back without running anything twice.
    private static let rememberedSeconds = 2 * 86_400
    /// How many moments of a pause are counted, more or less.
    private static let lookLimit = 10_000

    /// Begins at a moment, which is not a part of what comes.
    public init(_ rule: ScheduleRule, graceInSeconds grace: Int = 900, since seconds: Int, alreadyRun: Set<Int> = []) {
        self.rule = rule
        self.grace = grace
        decidedUntil = seconds
        self.alreadyRun = alreadyRun
    }

    /// Decides what has come until now.
    ///
    /// Of several moments within the grace only the last runs, so that no burst follows a pause.
    public mutating func look(at now: Int, place: SchedulePlace) -> Due {
        var due = Due(run: nil, missedCount: 0, lastMissed: nil)
        guard now >= decidedUntil else {
            // The clock was set back. What has run already does not run again.
            decidedUntil = now
            return due
        }
        alreadyRun = alreadyRun.filter { $0 > now - Self.rememberedSeconds }
        var moments = rule.moments(after: decidedUntil, through: now, limit: Self.lookLimit, at: place)
        if moments.count >= Self.lookLimit {
            // After a very long pause not every moment is counted, but the last ones are looked at.
            let recent = max(moments[moments.count - 1], now - grace - 1)
            moments += rule.moments(after: recent, through: now, limit: .max, at: place)
        }
        for moment in moments { take(moment, now, &due) }
        decidedUntil = now
        if let run = due.run { alreadyRun.insert(run) }
        return due
    }

    private func take(_ moment: Int, _ now: Int, _ due: inout Due) {
        guard !alreadyRun.contains(moment) else { return }
        let missed = now - moment > grace ? moment : due.run
        if now - moment <= grace { due.run = moment }
        guard let missed else { return }
        due.missedCount += 1
        due.lastMissed = max(due.lastMissed ?? missed, missed)
    }

    /// When to look next: the next moment that has not run yet; nil for none.
    public func nextLook(after now: Int, place: SchedulePlace) -> Int? {
        var last = max(now, decidedUntil)
        while let moment = rule.next(after: last, at: place) {
            guard alreadyRun.contains(moment) else { return moment }
            last = moment
        }
        return nil
    }
}
