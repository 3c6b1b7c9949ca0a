import HomeTypes

/// A rule for minutes in the form of cron: minute, hour, day of the month, month, day of the week.
///
/// Each field is `*`, a number, a range, a list of these, or one of them with a step (`*/15`). Months and days of the
/// week have names (`jan`, `mon`), and both 0 and 7 are Sunday. As in other programs, a rule that restricts both kinds
/// of days applies to days that match either (POSIX, `crontab`).
public struct CronExpression: Sendable, Hashable {
    private let minutes: Set<Int>
    private let hours: Set<Int>
    private let days: Set<Int>
    private let months: Set<Int>
    private let weekdays: Set<Int>
    private let restrictsDays: Bool
    private let restrictsWeekdays: Bool
    /// The times of day to which the rule applies, in seconds since midnight, in order.
    let times: [Int]

    /// Reads a rule.
    /// - Throws: `invalidArgument`, which names the field.
    public init(_ text: String) throws(HomeError) {
        let fields = text.split(whereSeparator: { $0 == " " || $0 == "\t" }).map(String.init)
        guard fields.count == 5 else {
            throw .invalidArgument(
                "the cron expression has \(fields.count) fields; it needs minute, hour, day, month and day of the week")
        }
        minutes = try Self.numbers(fields[0], 0...59, "minute")
        hours = try Self.numbers(fields[1], 0...23, "hour")
        days = try Self.numbers(fields[2], 1...31, "day")
        months = try Self.numbers(fields[3], 1...12, "month", names: Self.monthNames, from: 1)
        let named = try Self.numbers(fields[4], 0...7, "day of the week", names: Self.weekdayNames, from: 0)
        weekdays = Set(named.map { $0 == 0 ? 7 : $0 })
        restrictsDays = !fields[2].hasPrefix("*")
        restrictsWeekdays = !fields[4].hasPrefix("*")
        let minutes = minutes.sorted()
        times = hours.sorted().flatMap { hour in minutes.map { hour * 3600 + $0 * 60 } }
    }

    private static let monthNames = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]
    private static let weekdayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

    private static func numbers(
        _ field: String, _ range: ClosedRange<Int>, _ name: String, names: [String] = [], from first: Int = 0
    ) throws(HomeError) -> Set<Int> {
        func fault() -> HomeError {
            .invalidArgument(
                "the \(name) of the cron expression is \(field); use *, or numbers from \(range.lowerBound) to "
                    + "\(range.upperBound), ranges, lists and steps of them")
        }
        func number(_ text: Substring) throws(HomeError) -> Int {
            let lower = text.lowercased()
            if let index = names.firstIndex(of: lower) { return index + first }
            guard lower.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let number = Int(lower), range.contains(number)
            else { throw fault() }
            return number
        }
        var result: Set<Int> = []
        for part in field.split(separator: ",", omittingEmptySubsequences: false) {
            let halves = part.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            var step = 1
            if halves.count == 2 {
                guard let given = Int(halves[1]), given > 0 else { throw fault() }
                step = given
            }
            let ends = halves[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            let low: Int
            let high: Int
            if halves[0] == "*" {
                (low, high) = (range.lowerBound, range.upperBound)
            } else {
                low = try number(ends[0])
                // A number with a step continues to the end of the range.
                high = ends.count == 2 ? try number(ends[1]) : halves.count == 2 ? range.upperBound : low
            }
            guard low <= high else { throw fault() }
            result.formUnion(stride(from: low, through: high, by: step))
        }
        return result
    }

    /// Whether the rule holds on a day.
    func holds(on date: CivilDate) -> Bool {
        let (_, month, day) = date.parts
        guard months.contains(month) else { return false }
        switch (restrictsDays, restrictsWeekdays) {
        case (true, true): return days.contains(day) || weekdays.contains(date.weekday)
        default: return days.contains(day) && weekdays.contains(date.weekday)
        }
    }
}
