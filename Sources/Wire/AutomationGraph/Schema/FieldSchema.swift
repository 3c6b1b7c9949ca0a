import HomeTypes

/// The kind of value that a field of the vocabulary has.
public indirect enum FieldKind: Sendable, Hashable {
    case bool
    /// A signed integer with this many bits.
    case signed(Int)
    /// An unsigned integer with this many bits.
    case unsigned(Int)
    case number
    case text
    /// Octets, which JSON has as Base64.
    case octets
    /// One of these names.
    case choice([String])
    /// Bits of a number.
    case bitmap
    case list(FieldKind)
    case record([FieldSchema])
    /// A kind that expressions cannot use.
    case other
}

/// A field of a trait, a command or an event.
public struct FieldSchema: Sendable, Hashable {
    /// Its name in JSON.
    public let name: String
    /// The kind of its value.
    public let kind: FieldKind
    /// Whether it must be there.
    public let isRequired: Bool
    /// Whether it may be null.
    public let isNullable: Bool
}

extension FieldKind {
    /// The field of a record; nil where there is none.
    public func field(_ name: String) -> FieldSchema? {
        if case .record(let fields) = self { fields.first { $0.name == name } } else { nil }
    }

    /// The kind in a few words, for messages.
    public var words: String {
        switch self {
        case .bool: "a Boolean"
        case .signed, .unsigned: "an integer"
        case .number: "a number"
        case .text: "a string"
        case .octets: "octets in Base64"
        case .choice(let names): "one of \(names.joined(separator: ", "))"
        case .bitmap: "a number whose bits are flags"
        case .list: "a list"
        case .record(let fields): "an object with \(fields.map(\.name).joined(separator: ", "))"
        case .other: "another value"
        }
    }
}
