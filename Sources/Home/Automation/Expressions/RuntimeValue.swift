import HomeTypes

/// A value while an expression is evaluated: a constant, or what an attribute has.
public enum RuntimeValue: Sendable, Hashable {
    case bool(Bool)
    case integer(Int64)
    /// An integer above those of `Int64`.
    case large(UInt64)
    case number(Double)
    /// A text, or an enum by its name.
    case text(String)
    /// A time of day in nanoseconds since midnight.
    case time(Int64)
    case date(PartialDate)
    case list([RuntimeValue])
    case record([String: RuntimeValue])

    /// A day, or a part of it.
    public struct PartialDate: Sendable, Hashable {
        public var year: Int32?
        public var month: Int32?
        public var day: Int32?

        /// Names a day or a part of it.
        public init(year: Int32? = nil, month: Int32? = nil, day: Int32? = nil) {
            self.year = year
            self.month = month
            self.day = day
        }
    }

    /// The value of an attribute or a constant. Objects with the members of a time of day or a date become one.
    /// - Returns: nil for null, and for a list with null in it.
    public init?(_ value: JSONObject.Value) {
        switch value {
        case .null: return nil
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .large(let value): self = Int64(exactly: value).map { .integer($0) } ?? .large(value)
        case .number(let value): self = .number(value)
        case .text(let value): self = .text(value)
        case .list(let items):
            // A list with a missing item has no valid indexes after it.
            let values = items.compactMap { RuntimeValue($0) }
            guard values.count == items.count else { return nil }
            self = .list(values)
        case .object(let members):
            let members = members.compactMapValues { RuntimeValue($0) }
            self = Self.time(members) ?? Self.date(members) ?? .record(members)
        }
    }

    private static func integer(_ value: RuntimeValue?) -> Int64? {
        if case .integer(let value) = value { value } else { nil }
    }

    /// Google's `TimeOfDay`: hours and minutes, and perhaps seconds and nanoseconds. The hour 24 is the end of a day, and
    /// nothing comes after it.
    private static func time(_ members: [String: RuntimeValue]) -> RuntimeValue? {
        guard let hours = integer(members["hours"]), let minutes = integer(members["minutes"]),
            members.keys.allSatisfy({ ["hours", "minutes", "seconds", "nanos"].contains($0) }),
            (0...24).contains(hours), (0...59).contains(minutes)
        else { return nil }
        let seconds = members["seconds"] == nil ? 0 : integer(members["seconds"])
        let nanos = members["nanos"] == nil ? 0 : integer(members["nanos"])
        guard let seconds, let nanos, (0...59).contains(seconds), (0...999_999_999).contains(nanos),
            hours < 24 || (minutes, seconds, nanos) == (0, 0, 0)
        else { return nil }
        return .time(((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + nanos)
    }

    /// Google's `CalendarDate`: at least one of year, month and day.
    private static func date(_ members: [String: RuntimeValue]) -> RuntimeValue? {
        guard !members.isEmpty, members.keys.allSatisfy({ ["year", "month", "day"].contains($0) }) else { return nil }
        var parts: [String: Int32] = [:]
        for (name, value) in members {
            guard let part = integer(value).flatMap({ Int32(exactly: $0) }) else { return nil }
            parts[name] = part
        }
        return .date(PartialDate(year: parts["year"], month: parts["month"], day: parts["day"]))
    }
}
