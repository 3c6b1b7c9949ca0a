import Foundation

/// Reads the header `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date.
public enum RetryAfter {
    /// The wait; nil when the value is neither, or in the past.
    public static func parse(_ text: String) -> Duration? { parse(text, now: Date()) }

    static func parse(_ text: String, now: Date) -> Duration? {
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        if !trimmed.isEmpty, trimmed.utf8.count <= 9, trimmed.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return Int64(trimmed).map { .seconds($0) }
        }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        guard let date = formatter.date(from: trimmed) else { return nil }
        let seconds = date.timeIntervalSince(now)
        return seconds > 0 && seconds < 1e9 ? .seconds(seconds) : nil
    }
}
