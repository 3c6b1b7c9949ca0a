import Foundation

/// The moment that a person writes for the end of a share link.
public enum ShareEnd {
    /// The moment of `2026-12-24T18:00`, or the end of the day of `2026-12-24`; nil for anything else.
    /// - Parameter zone: the time zone of a text without one.
    public static func date(_ text: String, zone: TimeZone) -> Date? {
        if let exact = ISO8601DateFormatter().date(from: text) { return exact }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = zone
        formatter.isLenient = false
        for format in ["yyyy-MM-dd'T'HH:mm:ss", "yyyy-MM-dd'T'HH:mm", "yyyy-MM-dd HH:mm"] {
            formatter.dateFormat = format
            if let date = formatter.date(from: text) { return date }
        }
        formatter.dateFormat = "yyyy-MM-dd"
        guard let day = formatter.date(from: text) else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        // Days of 23 and 25 hours end at midnight too.
        return calendar.date(byAdding: .day, value: 1, to: day)
    }
}
