import HomeTypes

/// A value that a condition computes.
public indirect enum GraphExpression: Sendable, Hashable {
    /// A value that is known beforehand.
    case constant(JSONObject.Value)
    /// What a starter or state reader has read, by its name. A field of it is an attribute.
    case reference(String)
    /// A field of a value.
    case field(String, of: GraphExpression)
    /// An item of a list.
    case item(GraphExpression, of: GraphExpression)
    /// An operator with its operands.
    case operation(GraphOperator, [GraphExpression])
    /// What this version does not know.
    case unknown(RawForm)

    /// The expressions directly inside it.
    public var operands: [GraphExpression] {
        switch self {
        case .constant, .reference, .unknown: []
        case .field(_, let value): [value]
        case .item(let index, let list): [index, list]
        case .operation(_, let operands): operands
        }
    }

    /// Whether this version knows the expression and everything in it.
    public var isUnderstood: Bool {
        if case .unknown = self { false } else { operands.allSatisfy(\.isUnderstood) }
    }
}

/// An operator of expressions. Its name in JSON is the case.
public enum GraphOperator: String, Sendable, Hashable, CaseIterable {
    case equals, notEquals, greaterThan, greaterThanOrEquals, lessThan, lessThanOrEquals
    /// Whether the first operand is at least the second and at most the third. Times of day and days of the year wrap.
    case between
    /// Whether a list has an item, a text a part, or a bitmap all bits of another.
    case contains
    case and, or, not

    /// How many operands it takes.
    public var operandCount: ClosedRange<Int> {
        switch self {
        case .not: 1...1
        case .between: 3...3
        case .and, .or: 2...64
        default: 2...2
        }
    }
}
