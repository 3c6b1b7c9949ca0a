import Foundation

extension JSONValue {
    /// The member of an object; nil if this is not an object or does not have the member.
    public subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    /// Whether this is `null`.
    public var isNull: Bool { self == .null }

    /// The text of a string; nil for everything else.
    public var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// The elements of an array; nil for everything else.
    public var array: [JSONValue]? {
        guard case .array(let value) = self else { return nil }
        return value
    }

    /// The members of an object; nil for everything else.
    public var object: [String: JSONValue]? {
        guard case .object(let value) = self else { return nil }
        return value
    }

    /// The value of `true` and `false`; nil for everything else.
    public var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// A number up to ``greatestNumber``, which may be written as text. Devices send `"21.5"` and `21.5` alike.
    public var double: Double? {
        switch self {
        case .integer(let value): Self.readable(Double(value))
        case .number(let value): Self.readable(value)
        case .string(let text): Self.number(in: text)
        default: nil
        }
    }

    /// The greatest magnitude of a number that is treated as readable: 2^53, up to which whole numbers are exact (RFC
    /// 8259, section 6). Times in microseconds are less. Far greater numbers, which devices do not mean, become
    /// infinite in sums and products, and NaN in the next quotient.
    static let greatestNumber = 9_007_199_254_740_992.0

    /// `value`; nil if it is beyond ``greatestNumber`` or is not a number.
    private static func readable(_ value: Double) -> Double? { value.magnitude <= greatestNumber ? value : nil }

    /// The number nearest to ``double``, if it fits.
    public var int: Int? { double.flatMap { Int(exactly: $0.rounded()) } }

    /// The decimal number that a text consists of, apart from blanks around it. Names such as "nan" and hexadecimal
    /// digits, which `Double` accepts, are not numbers here, nor is anything beyond ``greatestNumber``.
    static func number(in text: String) -> Double? {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard trimmed.utf8.count <= 40, trimmed.utf8.allSatisfy({ Self.numberBytes.contains($0) }),
            let value = Double(trimmed)
        else { return nil }
        return readable(value)
    }

    private static let numberBytes = Set("0123456789+-.eE".utf8)

    /// The value as templates print it: `True`, `None`, `21.5`, and texts as they are.
    var printed: String {
        switch self {
        case .null: "None"
        case .bool(let value): value ? "True" : "False"
        case .integer(let value): String(value)
        case .number(let value): Int(exactly: value).map(String.init) ?? String(value)
        case .string(let value): value
        case .array, .object: text
        }
    }

    /// Whether a template's condition holds.
    var isTrue: Bool {
        switch self {
        case .null: false
        case .bool(let value): value
        case .integer(let value): value != 0
        case .number(let value): value != 0
        case .string(let value): !value.isEmpty
        case .array(let value): !value.isEmpty
        case .object(let value): !value.isEmpty
        }
    }
}
