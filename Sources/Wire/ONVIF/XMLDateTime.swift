import Transport

/// The times of XML Schema (part 2, sections 3.2.6 and 3.2.7), as far as ONVIF uses them.
enum XMLDateTime {
    /// Reads `2024-03-12T00:45:48Z`, with or without a fraction, with or without an offset. A time without a zone
    /// is treated as UTC. Nil for text that is not a time, such as the zeros that cameras with an unset clock send.
    static func parse(_ text: String) -> WallTime? {
        let bytes = Array(text.utf8)
        var position = 0
        func number(_ digits: Int) -> Int? {
            guard position + digits <= bytes.count else { return nil }
            var value = 0
            for byte in bytes[position..<(position + digits)] {
                guard (0x30...0x39).contains(byte) else { return nil }
                value = value * 10 + Int(byte - 0x30)
            }
            position += digits
            return value
        }
        func take(_ character: Character) -> Bool {
            guard position < bytes.count, bytes[position] == character.asciiValue else { return false }
            position += 1
            return true
        }
        guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2),
            take("T") || take(" "), let hour = number(2), take(":"), let minute = number(2), take(":"),
            let second = number(2)
        else { return nil }
        var milliseconds = 0
        if take(".") {
            var scale = 100
            while let digit = number(1) {
                milliseconds += digit * scale
                scale /= 10
            }
        }
        var offsetMinutes = 0
        if !take("Z"), position < bytes.count {
            let isBehind = take("-")
            guard isBehind || take("+"), let hours = number(2) else { return nil }
            _ = take(":")
            offsetMinutes = (hours * 60 + (number(2) ?? 0)) * (isBehind ? -1 : 1)
        }
        guard position == bytes.count, hour < 24 || milliseconds == 0 else { return nil }
        return time(year: year, month: month, day: day, hour: hour, minute: minute, second: second)?
            .advanced(byMilliseconds: Int64(milliseconds - offsetMinutes * 60_000))
    }

    /// A time of the Gregorian calendar in UTC; nil where one of the numbers is not valid. The hour 24 is the end of a day, and
    /// nothing comes after it.
    static func time(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) -> WallTime? {
        guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day), (0...24).contains(hour),
            (0...59).contains(minute), (0...60).contains(second), hour < 24 || (minute, second) == (0, 0)
        else { return nil }
        // Days from the civil calendar: years begin in March, so that the leap day is the last one.
        let shifted = month > 2 ? year : year - 1
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        return WallTime(millisecondsSince1970: Int64(days * 86_400 + hour * 3600 + minute * 60 + second) * 1000)
    }

    /// Writes a time in UTC with milliseconds.
    static func text(_ time: WallTime) -> String { time.iso8601 }

    /// A duration of whole seconds, such as `PT60S`.
    static func duration(seconds: Int) -> String { "PT\(max(0, seconds))S" }
}

extension WallTime {
    /// Reads a time as XML Schema writes it (`dateTime`); nil for any other text.
    public init?(xmlDateTime text: String) {
        guard let time = XMLDateTime.parse(text) else { return nil }
        self = time
    }

    /// The time in UTC as XML Schema and RFC 3339 write it, with milliseconds.
    public var xmlDateTime: String { XMLDateTime.text(self) }
}
