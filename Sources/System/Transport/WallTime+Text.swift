extension WallTime {
    /// The time in UTC with milliseconds, for example `2024-03-12T00:45:48.250Z`: a form that ISO 8601, RFC 3339 and XML
    /// Schema share. A time outside of the years 1 to 9999, which only a broken clock shows, is the nearest one inside.
    public var iso8601: String {
        let bounded = min(max(millisecondsSince1970, -62_135_596_800_000), 253_402_300_799_999)
        let milliseconds = Int((bounded % 1000 + 1000) % 1000)
        let seconds = Int((bounded - Int64(milliseconds)) / 1000)
        let secondOfDay = (seconds % 86_400 + 86_400) % 86_400
        // Days to the civil calendar: years begin in March, so that the leap day is the last one.
        let days = (seconds - secondOfDay) / 86_400 + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))T"
            + "\(Self.padded(secondOfDay / 3600, 2)):\(Self.padded(secondOfDay / 60 % 60, 2)):"
            + "\(Self.padded(secondOfDay % 60, 2)).\(Self.padded(milliseconds, 3))Z"
    }

    /// A number with leading zeros.
    private static func padded(_ value: Int, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
