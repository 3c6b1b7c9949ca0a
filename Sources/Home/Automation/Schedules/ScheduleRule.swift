import AutomationGraph
import HomeTypes

/// When a scheduled starter fires: at a time of day, at a moment of the sun, or by a cron expression.
public struct ScheduleRule: Sendable, Hashable {
    /// The kind of the rule.
    public enum Moment: Sendable, Hashable {
        /// A time of day, in seconds since midnight.
        case clock(Int)
        /// A moment of the sun, and the seconds after it; negative for before it.
        case sun(Google.TimeTrait.SolarTimeType, offset: Int)
        case cron(CronExpression)
        /// A moment of the sun on the days of a cron expression, whose minute and hour do not count.
        case sunOnDays(Google.TimeTrait.SolarTimeType, offset: Int, CronExpression)
    }

    /// The kind of the rule.
    public var moment: Moment
    /// The days of the week, numbered as in ISO 8601; empty for every day.
    public var weekdays: Set<Int>

    /// Describes a rule.
    public init(_ moment: Moment, weekdays: Set<Int> = []) {
        self.moment = moment
        self.weekdays = weekdays
    }

    /// The rule of an event of the trait `Time`.
    /// - Throws: `invalidArgument` for an event that is not a schedule, or has no rule.
    public init(event: String, parameters: [String: JSONObject.Value]) throws(HomeError) {
        let clock = try Self.clock(parameters["clockTime"])
        let sun = try Self.sun(parameters["solarTime"])
        var cron: CronExpression?
        if case .text(let text) = parameters["cronExpression"] { cron = try CronExpression(text) }
        switch (event, clock, sun, cron) {
        case ("Scheduled", let time?, nil, nil): self.init(.clock(time))
        case ("Scheduled", nil, let sun?, nil): self.init(.sun(sun.type, offset: sun.offset))
        case ("RecurringClockTimeScheduled", nil, nil, let cron?): self.init(.cron(cron))
        case ("RecurringSolarTimeScheduled", nil, let sun?, let cron?):
            self.init(.sunOnDays(sun.type, offset: sun.offset, cron))
        default:
            throw .invalidArgument("\(event) needs one time: a clockTime, a solarTime or a cronExpression")
        }
        guard case .list(let days)? = parameters["daysOfWeek"] else { return }
        for case .text(let name) in days {
            guard let day = Google.TimeTrait.DayOfWeek(rawValue: name), (1...7).contains(day.number) else {
                throw .invalidArgument("daysOfWeek has \(name); use monday to sunday")
            }
            weekdays.insert(Int(day.number))
        }
    }

    private static func clock(_ value: JSONObject.Value?) throws(HomeError) -> Int? {
        guard let value else { return nil }
        guard case .time(let nanoseconds) = RuntimeValue(value) else {
            throw .invalidArgument("clockTime must have hours and minutes, and must not be later than 24:00")
        }
        return Int(nanoseconds / 1_000_000_000)
    }

    private static func sun(
        _ value: JSONObject.Value?
    ) throws(HomeError) -> (type: Google.TimeTrait.SolarTimeType, offset: Int)? {
        guard let value else { return nil }
        guard case .object(let members) = value, case .text(let name)? = members["type"],
            let type = Google.TimeTrait.SolarTimeType(rawValue: name), type != .unrecognized
        else { throw .invalidArgument("solarTime must have the type sunrise or sunset") }
        guard let offset = members["offset"], offset != .null else { return (type, 0) }
        guard case .integer(let seconds) = offset, (-86_400...86_400).contains(seconds) else {
            throw .invalidArgument("the offset of solarTime must be from -86400 to 86400 seconds")
        }
        return (type, Int(seconds))
    }
}

/// Where and when the sun rises and sets.
public struct SchedulePlace: Sendable {
    /// The wall clock.
    public var clock: WallClock
    /// The moment of the sun on a day, in seconds since 1970; nil if it does not rise or set, or if the place is
    /// unknown.
    public var sun: @Sendable (Google.TimeTrait.SolarTimeType, CivilDate) -> Int?

    /// Describes a place.
    public init(
        _ clock: WallClock,
        sun: @escaping @Sendable (Google.TimeTrait.SolarTimeType, CivilDate) -> Int? = { _, _ in nil }
    ) {
        self.clock = clock
        self.sun = sun
    }
}

extension ScheduleRule {
    /// The moments of a day in seconds since 1970, in order and without duplicates.
    public func moments(on date: CivilDate, at place: SchedulePlace) -> [Int] {
        guard weekdays.isEmpty || weekdays.contains(date.weekday) else { return [] }
        switch moment {
        case .clock(let time): return [place.clock.moment(of: time, on: date)]
        case .sun(let type, let offset): return place.sun(type, date).map { [$0 + offset] } ?? []
        case .sunOnDays(let type, let offset, let cron):
            guard cron.holds(on: date) else { return [] }
            return place.sun(type, date).map { [$0 + offset] } ?? []
        case .cron(let cron):
            guard cron.holds(on: date) else { return [] }
            return place.clock.moments(of: cron.times, on: date)
        }
    }

    /// Whether its moments are those of the sun.
    var waitsForSun: Bool {
        switch moment {
        case .sun, .sunOnDays: true
        case .clock, .cron: false
        }
    }

    /// Whether it would have a moment on a day if the sun rose or set then.
    func lacksSun(on date: CivilDate, at place: SchedulePlace) -> Bool {
        let sunny = SchedulePlace(place.clock) { _, date in place.clock.moment(of: 43_200, on: date) }
        return waitsForSun && moments(on: date, at: place).isEmpty && !moments(on: date, at: sunny).isEmpty
    }

    /// The moments after one and up to another, in order: all of them, or those of the first days that together have
    /// this many.
    func moments(after start: Int, through end: Int, limit: Int, at place: SchedulePlace) -> [Int] {
        var result: [Int] = []
        // The sun's offset and a skipped day move a moment away from its day.
        let first = place.clock.date(at: start).day
        let last = max(first, place.clock.date(at: end).day)
        for day in first - 2...last + 2 {
            result += moments(on: CivilDate(day: day), at: place).filter { $0 > start && $0 <= end }
            if result.count >= limit { break }
        }
        return Set(result).sorted()
    }

    /// The first moment after another one; nil if there is none in the next nine years.
    public func next(after seconds: Int, at place: SchedulePlace) -> Int? {
        let first = place.clock.date(at: seconds).day - 2
        var best: Int?
        for day in first..<first + 9 * 366 {
            for moment in moments(on: CivilDate(day: day), at: place) where moment > seconds {
                best = best.map { min($0, moment) } ?? moment
            }
            // A later day can still have an earlier moment, if the sun's offset is negative.
            if let best, day > place.clock.date(at: best).day + 1 { return best }
        }
        return best
    }
}
