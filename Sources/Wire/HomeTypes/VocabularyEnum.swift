/// A name out of a fixed set. A message with another name is refused with the names that there are.
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

/// An enum that the vocabulary declares. Its JSON form is the name (`"hd"`); the number is read too.
public protocol VocabularyEnum: VocabularyName {
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
        if let number = try? container.decode(UInt64.self), let value = Self(number: number) {
            self = value
            return
        }
        guard let name = try? container.decode(String.self), let value = Self(rawValue: name) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected one of \(Self.names)")
        }
        self = value
    }
}
