/// A day of the Gregorian calendar, whatever the time zone.
public struct CivilDate: Sendable, Hashable, Comparable {
    /// Days since 1 January 1970.
    public var day: Int

    /// Names a day by its number.
    public init(day: Int) { self.day = day }

    /// Names a day by year, month and day of the month (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    public init(year: Int, month: Int, day: Int) {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        self.day = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Year, month and day of the month.
    public var parts: (year: Int, month: Int, day: Int) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        return (
            yearOfEra + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9,
            dayOfYear - (153 * month + 2) / 5 + 1
        )
    }

    /// The day of the week, numbered as in ISO 8601: 1 is Monday.
    public var weekday: Int { ((day + 3) % 7 + 7) % 7 + 1 }

    public static func < (first: CivilDate, second: CivilDate) -> Bool { first.day < second.day }
}
