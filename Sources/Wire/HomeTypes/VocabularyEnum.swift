/// A name out of a fixed set. A message with another name is refused with a list of the valid names.
public protocol VocabularyName: RawRepresentable, CaseIterable, Codable, Hashable, Sendable where RawValue == String {}

extension VocabularyName {
    /// All names, for messages.
    public static var names: String { Self.allCases.map(\.rawValue).joined(separator: ", ") }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(rawValue: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected one of \(Self.names)")
        }
        self = value
    }
}

/// An enum that the vocabulary declares. Its JSON form is the name (`"hd"`); the number is also accepted. A name or
/// number that this version does not know is read as ``unrecognized``, which is not among `allCases`.
public protocol VocabularyEnum: VocabularyName {
    /// The value that stands for those that this version does not know.
    static var unrecognized: Self { get }
    /// The value's number in the data model.
    var number: UInt64 { get }
}

extension VocabularyEnum {
    /// The value with this number, or nil.
    public init?(number: UInt64) {
        guard let value = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = value
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let name = try? container.decode(String.self) {
            self = Self(rawValue: name) ?? .unrecognized
        } else if let number = try? container.decode(UInt64.self) {
            self = Self(number: number) ?? .unrecognized
        } else if (try? container.decode(Double.self)) != nil {
            // Values never have a negative or fractional number.
            self = .unrecognized
        } else {
            // Neither a name nor a number. This names the place and what belongs there.
            _ = try container.decode(String.self)
            self = .unrecognized
        }
    }
}
