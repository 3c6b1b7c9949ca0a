import Foundation
import HomeTypes

/// A moment as a person writes it on a command line: a time with its zone, or how long ago it was.
public enum TimeText {
    /// The accepted forms, for messages and help.
    public static let choice = "a time like 2026-01-31T12:00:00Z, or how long ago, like 30m, 1h or 2d"

    private static let units: [Character: Double] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
    /// The longest time ago: a hundred years, in seconds.
    private static let longest = 36_525.0 * 86_400

    /// The moment in ISO 8601, as requests to a gateway name it. A time stays as it is written. A time ago becomes a
    /// time in UTC, to the second.
    /// - Parameters:
    ///   - option: what the text is the value of, for the message.
    ///   - now: the moment from which a time ago counts.
    /// - Throws: `invalidArgument` for any other text; the message says what is accepted.
    public static func timestamp(_ text: String, option: String, now: Date = Date()) throws(HomeError) -> String {
        if isTime(text) { return text }
        guard let seconds = secondsAgo(text) else {
            throw .invalidArgument("\(option): \(text.prefix(64).debugDescription) is not \(choice)")
        }
        return ISO8601DateFormatter().string(from: now.addingTimeInterval(-seconds))
    }

    private static func isTime(_ text: String) -> Bool {
        let formatter = ISO8601DateFormatter()
        if formatter.date(from: text) != nil { return true }
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        return formatter.date(from: text) != nil
    }

    private static func secondsAgo(_ text: String) -> Double? {
        let digits = text.dropLast()
        // `Double` also reads signs, exponents, hexadecimal digits and words.
        guard let unit = text.last.flatMap({ units[$0] }), digits.allSatisfy({ ".0123456789".contains($0) }),
            let count = Double(digits)
        else { return nil }
        let seconds = count * unit
        return seconds <= longest ? seconds : nil
    }
}
