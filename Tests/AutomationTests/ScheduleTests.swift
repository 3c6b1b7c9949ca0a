import Automation
import Foundation
import HomeTypes
import Testing

@Suite struct ScheduleTests {
    private static func place(_ zone: String) throws -> SchedulePlace {
        SchedulePlace(WallClock(try #require(TimeZone(identifier: zone))))
    }

    private static func seconds(_ text: String) throws -> Int {
        Int(try Date(text, strategy: .iso8601).timeIntervalSince1970)
    }

    private static func text(_ seconds: Int?) -> String? {
        seconds.map { Date(timeIntervalSince1970: Double($0)).formatted(.iso8601) }
    }

    /// All moments of a rule from one moment to another.
    private static func moments(
        _ rule: ScheduleRule, _ place: SchedulePlace, from start: String, to end: String
    ) throws -> [Int] {
        var result: [Int] = []
        var last = try seconds(start) - 1
        let end = try seconds(end)
        while let moment = rule.next(after: last, at: place), moment < end, result.count < 100_000 {
            result.append(moment)
            last = moment
        }
        return result
    }

    @Test func `days have their dates and days of the week`() {
        #expect(CivilDate(year: 1970, month: 1, day: 1).day == 0)
        #expect(CivilDate(year: 2026, month: 11, day: 23).weekday == 1)
        #expect(CivilDate(year: 1969, month: 12, day: 31).weekday == 3)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        for day in stride(from: -200_000, through: 200_000, by: 97) {
            let parts = CivilDate(day: day).parts
            #expect(CivilDate(year: parts.year, month: parts.month, day: parts.day).day == day)
            let date = Date(timeIntervalSince1970: Double(day) * 86_400)
            guard day > -140_000 else { continue }
            let wanted = calendar.dateComponents([.year, .month, .day, .weekday], from: date)
            #expect(wanted.year == parts.year && wanted.month == parts.month && wanted.day == parts.day)
            #expect(wanted.weekday == CivilDate(day: day).weekday % 7 + 1)
        }
    }

    @Test(arguments: [
        // Left out: 02:00 to 03:00, Lord Howe Island's half hour, and Samoa's whole day.
        ("Europe/Berlin", 2026, 3, 29, 2, 30, "2026-03-29T01:00:00Z"),
        ("America/New_York", 2026, 3, 8, 2, 0, "2026-03-08T07:00:00Z"),
        ("Australia/Lord_Howe", 2026, 10, 4, 2, 15, "2026-10-03T15:30:00Z"),
        ("Pacific/Apia", 2011, 12, 30, 8, 0, "2011-12-30T10:00:00Z"),
        // Twice: the first one.
        ("Europe/Berlin", 2026, 10, 25, 2, 30, "2026-10-25T00:30:00Z"),
        ("Australia/Lord_Howe", 2026, 4, 5, 1, 45, "2026-04-04T14:45:00Z"),
        // Next to the changes.
        ("Europe/Berlin", 2026, 3, 29, 1, 59, "2026-03-29T00:59:00Z"),
        ("Europe/Berlin", 2026, 3, 29, 3, 0, "2026-03-29T01:00:00Z"),
        ("Europe/Berlin", 2026, 10, 25, 3, 0, "2026-10-25T02:00:00Z"),
        ("Africa/Cairo", 2026, 4, 24, 0, 0, "2026-04-23T22:00:00Z"),
        ("Pacific/Apia", 2011, 12, 31, 8, 0, "2011-12-30T18:00:00Z"),
        ("Asia/Kathmandu", 2026, 6, 1, 24, 0, "2026-06-01T18:15:00Z"),
    ])
    func `the wall clock goes on where it leaves a time out, and counts the first of two`(
        zone: String, year: Int, month: Int, day: Int, hours: Int, minutes: Int, moment: String
    ) throws {
        let clock = WallClock(try #require(TimeZone(identifier: zone)))
        let date = CivilDate(year: year, month: month, day: day)
        #expect(Self.text(clock.moment(of: hours * 3600 + minutes * 60, on: date)) == moment)
    }

    @Test(arguments: [
        "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Gaza",
        "America/Santiago",
    ])
    func `a time of day runs once on every day of a year`(_ zone: String) throws {
        let place = try Self.place(zone)
        for time in [0, 90 * 60, 150 * 60, 8 * 3600, 86_399] {
            let all = try Self.moments(
                ScheduleRule(.clock(time)), place, from: "2026-01-02T00:00:00Z", to: "2027-01-02T00:00:00Z")
            #expect(all.count == 365, "\(time)")
            #expect(zip(all, all.dropFirst()).allSatisfy { (79_000...94_000).contains($1 - $0) }, "\(time)")
        }
    }

    @Test func `days of the week and of the month, leap days and steps are kept`() throws {
        let place = try Self.place("Europe/Berlin")
        func count(_ cron: String, _ start: String, _ end: String) throws -> Int {
            try Self.moments(ScheduleRule(.cron(try CronExpression(cron))), place, from: start, to: end).count
        }
        let (start, end) = ("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z")
        #expect(try count("30 8 * * mon-fri", start, end) == 261)
        #expect(try count("0 12 1 * *", start, end) == 12)
        #expect(try count("0 12 1 * 0", start, end) == 12 + 52 - 3)
        #expect(try count("0 12 29 2 *", start, "2034-01-01T00:00:00Z") == 2)
        #expect(try count("*/15 6-7 * jan,7 sun", start, end) == 8 * (4 + 4))
        #expect(try count("5/20 * 1 1 *", start, end) == 72)
        #expect(try count("0 12 30 2 *", start, end) == 0)
        // Four of the hour that is left out become one; the hour that comes twice runs once.
        #expect(try count("*/15 * * * *", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z") == 23 * 4)
        #expect(try count("*/15 * * * *", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z") == 24 * 4)
        let weekend = ScheduleRule(.clock(0), weekdays: [6, 7])
        #expect(try Self.moments(weekend, place, from: start, to: end).count == 104)
    }

    @Test(arguments: [
        "", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "5-1 * * * *",
        "*/0 * * * *", "a * * * *", "1,,2 * * * *", "1- * * * *", "-1 * * * *", "*/x * * * *", "+1 * * * *",
    ])
    func `a cron expression that is wrong is refused`(_ text: String) {
        #expect(throws: HomeError.self) { try CronExpression(text) }
    }

    @Test func `the sun's moments have offsets, and days without the sun have none`() throws {
        var place = try Self.place("Europe/Berlin")
        place = SchedulePlace(place.clock) { type, date in
            // It rises at noon of every second day.
            type == .sunrise && date.day.isMultiple(of: 2) ? date.day * 86_400 + 43_200 : nil
        }
        let rule = ScheduleRule(.sun(.sunrise, offset: -3600))
        let all = try Self.moments(rule, place, from: "2026-01-01T00:00:00Z", to: "2026-01-11T00:00:00Z")
        #expect(all.count == 5)
        #expect(all.allSatisfy { $0 % 86_400 == 39_600 })
        // A day earlier than its sunrise.
        let early = try Self.moments(
            ScheduleRule(.sun(.sunrise, offset: -86_400)), place, from: "2026-01-01T00:00:00Z",
            to: "2026-01-11T00:00:00Z")
        #expect(early == early.sorted() && early.count == 5)
        let never = ScheduleRule(.sun(.sunset, offset: 0))
        #expect(never.next(after: 0, at: place) == nil)
        let mondays = ScheduleRule(.sunOnDays(.sunrise, offset: 0, try CronExpression("* * * * mon")))
        #expect(try Self.moments(mondays, place, from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z").count == 2)
    }

    @Test func `the parameters of the events make rules`() throws {
        let eight = JSONObject.Value.object(["hours": .integer(8), "minutes": .integer(30)])
        let dusk = JSONObject.Value.object(["type": .text("sunset"), "offset": .integer(-600)])
        let days = JSONObject.Value.list([.text("monday"), .text("sunday")])
        let cron = JSONObject.Value.text("0 8 * * *")
        #expect(
            try ScheduleRule(event: "Scheduled", parameters: ["clockTime": eight, "daysOfWeek": days])
                == ScheduleRule(.clock(30_600), weekdays: [1, 7]))
        let midnight = JSONObject.Value.object(["hours": .integer(24), "minutes": .integer(0)])
        #expect(
            try ScheduleRule(event: "Scheduled", parameters: ["clockTime": midnight]) == ScheduleRule(.clock(86_400)))
        #expect(
            try ScheduleRule(event: "Scheduled", parameters: ["solarTime": dusk])
                == ScheduleRule(.sun(.sunset, offset: -600)))
        #expect(
            try ScheduleRule(event: "RecurringClockTimeScheduled", parameters: ["cronExpression": cron])
                == ScheduleRule(.cron(try CronExpression("0 8 * * *"))))
        for wrong in [
            [:], ["clockTime": eight, "solarTime": dusk], ["clockTime": .text("8")], ["solarTime": .object([:])],
            ["clockTime": eight, "daysOfWeek": .list([.text("noday")])],
            ["clockTime": .object(["hours": .integer(24), "minutes": .integer(1)])],
        ] as [[String: JSONObject.Value]] {
            #expect(throws: HomeError.self) { try ScheduleRule(event: "Scheduled", parameters: wrong) }
        }
    }
}

@Suite struct ScheduleFollowerTests {
    private let place = SchedulePlace(WallClock(.gmt))
    private let hourly: ScheduleRule
    private let everyMinute: ScheduleRule

    init() throws {
        hourly = ScheduleRule(.cron(try CronExpression("0 * * * *")))
        everyMinute = ScheduleRule(.cron(try CronExpression("* * * * *")))
    }

    @Test func `each moment runs once while the clock goes on`() {
        var follower = ScheduleFollower(hourly, since: 0)
        var runs: [Int] = []
        for now in stride(from: 0, through: 10 * 3600, by: 61) {
            let due = follower.look(at: now, uptime: Int64(now) * 1_000, place: place)
            #expect(due.missedCount == 0)
            if let run = due.run { runs.append(run) }
        }
        #expect(runs == (1...9).map { $0 * 3600 })
        #expect(follower.nextLook(after: follower.decidedUntil, place: place) == 36_000)
    }

    @Test func `what was missed runs late within the grace, and is reported beyond it`() {
        var follower = ScheduleFollower(hourly, since: 0)
        #expect(
            follower.look(at: 3600 + 900, uptime: 0, place: place) == .init(run: 3600, missedCount: 0, lastMissed: nil))
        #expect(
            follower.look(at: 7200 + 901, uptime: 0, place: place) == .init(run: nil, missedCount: 1, lastMissed: 7200))
        // One run after a pause, and no burst.
        #expect(
            follower.look(at: 5 * 3600 + 60, uptime: 0, place: place)
                == .init(run: 18_000, missedCount: 2, lastMissed: 14_400))
        var busy = ScheduleFollower(everyMinute, since: 0)
        #expect(busy.look(at: 600, uptime: 0, place: place) == .init(run: 600, missedCount: 9, lastMissed: 540))
        var strict = ScheduleFollower(hourly, graceInSeconds: 0, since: 0)
        #expect(strict.look(at: 3601, uptime: 0, place: place).run == nil)
    }

    @Test func `a clock that is set back runs nothing twice, and goes on`() {
        var follower = ScheduleFollower(hourly, since: 0)
        #expect(follower.look(at: 3600, uptime: 0, place: place).run == 3600)
        #expect(follower.look(at: 1800, uptime: 0, place: place).run == nil)
        #expect(follower.nextLook(after: 1800, place: place) == 7200)
        #expect(follower.look(at: 3700, uptime: 0, place: place).run == nil)
        #expect(follower.look(at: 7200, uptime: 0, place: place).run == 7200)
    }

    @Test func `a clock that jumps by a year and back costs little and keeps the schedule`() {
        var follower = ScheduleFollower(everyMinute, since: 0)
        let year = 365 * 86_400
        let due = follower.look(at: year, uptime: 0, place: place)
        #expect(due.run == year && due.missedCount >= 10_000)
        #expect(follower.look(at: 120, uptime: 0, place: place).run == nil)
        #expect(follower.look(at: 180, uptime: 0, place: place).run == 180)
        #expect(follower.look(at: 240, uptime: 0, place: place).run == 240)
    }

    @Test func `a minute that has run does not run again however far the clock jumps, and is forgotten after two days`()
    {
        let (day, year): (Int64, Int) = (86_400_000, 365 * 86_400)
        var follower = ScheduleFollower(hourly, since: 0)
        #expect(follower.look(at: 3_600, uptime: 0, place: place).run == 3_600)
        #expect(follower.look(at: year, uptime: 1_000, place: place).run == year)
        #expect(follower.look(at: 3_000, uptime: 2_000, place: place).run == nil)
        #expect(follower.nextLook(after: 3_000, place: place) == 7_200)
        #expect(follower.look(at: 3_600, uptime: 3_000, place: place).run == nil)
        #expect(follower.look(at: year, uptime: 4_000, place: place).run == nil)
        // Nobody sets a clock back after two days and means it.
        #expect(follower.look(at: year + 60, uptime: 3 * day, place: place).run == nil)
        #expect(follower.look(at: 3_000, uptime: 3 * day, place: place).run == nil)
        #expect(follower.look(at: 3_600, uptime: 3 * day, place: place).run == 3_600)
    }
}
