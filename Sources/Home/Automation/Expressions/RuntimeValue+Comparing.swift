/// How two values of one kind are ordered.
enum Ordering {
    case less, equal, greater

    init<Value: Comparable>(_ first: Value, _ second: Value) {
        self = first < second ? .less : first == second ? .equal : .greater
    }
}

extension RuntimeValue {
    /// The order of two values; nil for values without an order, for example a text and a number.
    ///
    /// Only those parts of a date count that the other date has, so a day can be compared with a month. A date without
    /// one of these parts cannot be ordered with the other.
    static func order(_ first: RuntimeValue, _ second: RuntimeValue) -> Ordering? {
        switch (first, second) {
        case (.text(let first), .text(let second)): return Ordering(first, second)
        case (.time(let first), .time(let second)): return Ordering(first, second)
        case (.date(let first), .date(let second)): return first.order(second)
        default: return orderOfNumbers(first, second)
        }
    }

    private static func orderOfNumbers(_ first: RuntimeValue, _ second: RuntimeValue) -> Ordering? {
        switch (first, second) {
        case (.integer(let first), .integer(let second)): return Ordering(first, second)
        case (.large(let first), .large(let second)): return Ordering(first, second)
        case (.integer, .large): return .less
        case (.large, .integer): return .greater
        case (.number(let first), .number(let second)):
            return first.isNaN || second.isNaN ? nil : Ordering(first, second)
        case (.integer(let first), .number(let second)): return order(first, second)
        case (.large(let first), .number(let second)): return order(first, second)
        case (.number(let first), .integer(let second)): return order(second, first)?.reversed
        case (.number(let first), .large(let second)): return order(second, first)?.reversed
        default: return nil
        }
    }

    /// Compares without rounding: a large integer has no exact double.
    private static func order<Integer: FixedWidthInteger>(_ integer: Integer, _ number: Double) -> Ordering? {
        guard !number.isNaN else { return nil }
        let floor = number.rounded(.down)
        guard let whole = Integer(exactly: floor) else { return floor < 0 ? .greater : .less }
        guard integer == whole else { return Ordering(integer, whole) }
        return number > floor ? .less : .equal
    }

    /// Whether two values are equal; nil for values of different kinds.
    static func isEqual(_ first: RuntimeValue, _ second: RuntimeValue) -> Bool? {
        switch (first, second) {
        case (.bool(let first), .bool(let second)): return first == second
        case (.list(let first), .list(let second)): return first == second
        case (.record(let first), .record(let second)): return first == second
        default: return order(first, second).map { $0 == .equal }
        }
    }

    /// Whether a value is at least `low` and at most `high`; nil for values of different kinds.
    ///
    /// If `low` is after `high`, a range of times of day passes midnight, and a range of days passes the end of the
    /// year. Other ranges are then empty.
    static func isBetween(_ value: RuntimeValue, _ low: RuntimeValue, _ high: RuntimeValue) -> Bool? {
        guard let fromLow = order(value, low), let toHigh = order(value, high), let ends = order(low, high) else {
            return nil
        }
        let isAfterLow = fromLow != .less
        let isBeforeHigh = toHigh != .greater
        return ends == .greater && low.wraps ? isAfterLow || isBeforeHigh : isAfterLow && isBeforeHigh
    }

    /// Whether values of this kind repeat: times of day, and dates without a year.
    private var wraps: Bool {
        switch self {
        case .time: true
        case .date(let date): date.year == nil
        default: false
        }
    }

    /// Whether a list has an item, whether a text contains another, or whether a bitmap has all bits of another; nil
    /// for values of other kinds.
    static func contains(_ whole: RuntimeValue, _ part: RuntimeValue) -> Bool? {
        switch (whole, part) {
        case (.list(let items), _): return items.contains { isEqual($0, part) == true }
        case (.text(let whole), .text(let part)): return part.isPart(of: whole)
        case (.integer(let whole), .integer(let part)): return whole & part == part
        default: return nil
        }
    }
}

extension Ordering {
    var reversed: Ordering {
        switch self {
        case .less: .greater
        case .equal: .equal
        case .greater: .less
        }
    }
}

extension RuntimeValue.PartialDate {
    /// The order of the parts that `other` has; nil if this date does not have one of them.
    fileprivate func order(_ other: Self) -> Ordering? {
        // A list of the three would be allocated for each comparison.
        guard let years = Self.order(year, other.year), let months = Self.order(month, other.month),
            let days = Self.order(day, other.day)
        else { return nil }
        return years != .equal ? years : months != .equal ? months : days
    }

    private static func order(_ own: Int32?, _ wanted: Int32?) -> Ordering? {
        guard let wanted else { return .equal }
        return own.map { Ordering($0, wanted) }
    }
}

extension String {
    /// Whether this is a part of another text. The standard library's own search allocates memory.
    fileprivate func isPart(of whole: String) -> Bool {
        var rest = whole.utf8[...]
        while !rest.starts(with: utf8) {
            if rest.isEmpty { return false }
            rest.removeFirst()
        }
        return true
    }
}
