import AutomationGraph
import HomeTypes

/// What kind of value an expression has, as far as operators care.
enum ExpressionShape: Hashable {
    case bool
    case number
    case text
    /// An enum with its names.
    case choice([String])
    case time
    /// A date, or the parts of one: year, month and day.
    case date(Set<String>)
    case list
    case record([FieldSchema])
    /// What is wrong with it has been reported.
    case unknown

    init(_ kind: FieldKind) {
        switch kind {
        case .bool: self = .bool
        case .signed, .unsigned, .number, .bitmap: self = .number
        case .text, .octets: self = .text
        case .choice(let names): self = .choice(names)
        case .list: self = .list
        case .record(let fields):
            switch Set(fields.map(\.name)) {
            case ["hours", "minutes", "seconds", "nanos"]: self = .time
            case ["year", "month", "day"]: self = .date(["year", "month", "day"])
            default: self = .record(fields)
            }
        case .other: self = .unknown
        }
    }

    /// The kind of a constant; nil for null.
    init?(_ constant: JSONObject.Value) {
        switch RuntimeValue(constant) {
        case nil: return nil
        case .bool: self = .bool
        case .integer, .large, .number: self = .number
        case .text: self = .text
        case .time: self = .time
        case .date(let date):
            let parts = [("year", date.year), ("month", date.month), ("day", date.day)]
            self = .date(Set(parts.filter { $0.1 != nil }.map(\.0)))
        case .list: self = .list
        case .record: self = .record([])
        }
    }

    /// Whether values of both kinds can be equal.
    func isComparable(with other: ExpressionShape) -> Bool {
        switch (self, other) {
        case (.unknown, _), (_, .unknown), (.bool, .bool), (.number, .number), (.time, .time), (.list, .list),
            (.record, .record), (.text, .text), (.text, .choice), (.choice, .text):
            true
        case (.choice(let first), .choice(let second)): first == second
        // A date is compared in the parts that the second one has.
        case (.date(let first), .date(let second)): second.isSubset(of: first)
        default: false
        }
    }

    /// Whether values of this kind have an order.
    var isOrdered: Bool {
        switch self {
        case .number, .text, .time, .date, .unknown: true
        case .bool, .choice, .list, .record: false
        }
    }
}
