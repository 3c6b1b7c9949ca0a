import Glibc

/// A point in time as a wall clock shows it, in the time zone of this machine.
struct CivilTime {
    /// For example `09:05`.
    var hourAndMinute: String
    /// For example `Friday 20 November 2026, UTC`.
    var date: String

    init(secondsSince1970: Int) {
        var time = time_t(secondsSince1970)
        var parts = tm()
        localtime_r(&time, &parts)
        hourAndMinute = "\(Self.twoDigits(Int(parts.tm_hour))):\(Self.twoDigits(Int(parts.tm_min)))"
        let weekday = Self.weekdays[min(max(Int(parts.tm_wday), 0), 6)]
        let month = Self.months[min(max(Int(parts.tm_mon), 0), 11)]
        let zone = parts.tm_zone.map { String(cString: $0) } ?? "local time"
        date = "\(weekday) \(parts.tm_mday) \(month) \(Int(parts.tm_year) + 1900), \(zone)"
    }

    static func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
}
