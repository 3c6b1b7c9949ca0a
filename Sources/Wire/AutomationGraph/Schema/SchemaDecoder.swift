import Foundation
import HomeTypes

/// What a type has asked for at one place.
final class SchemaNode {
    var kind = FieldKind.other
    var isNullable = false
}

/// A decoder without data. It answers each question with a sample, and records what was asked for.
struct SchemaDecoder: Decoder {
    let node: SchemaNode
    /// The only member that the outermost object has; nil for all.
    let only: String?
    /// The member of the outermost object that has another sample than usual; nil for none.
    let changed: String?
    /// Whether all samples are others than usual.
    let isChanged: Bool
    let depth: Int
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(
        _ node: SchemaNode, only: String? = nil, changed: String? = nil, isChanged: Bool = false, depth: Int = 0
    ) {
        self.node = node
        self.only = only
        self.changed = changed
        self.isChanged = isChanged
        self.depth = depth
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        node.kind = .record([])
        return KeyedDecodingContainer(SchemaMembers<Key>(decoder: self, absent: SchemaNames()))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { SchemaItems(decoder: self) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { SchemaValue(decoder: self) }

    /// A sample of a type. The node gets its kind.
    /// - Parameter isChanged: whether the sample is another one than usual.
    func sample<Value: Decodable>(_ type: Value.Type, _ node: SchemaNode, isChanged: Bool) throws -> Value {
        func cast(_ kind: FieldKind, _ value: Any) throws -> Value {
            node.kind = kind
            guard let value = value as? Value else { throw HomeError.internal("\(value) is not a \(type)") }
            return value
        }
        if let choice = type as? any VocabularyEnum.Type {
            return try cast(.choice(choice.nameList), isChanged ? choice.unrecognized : choice.sample)
        }
        let number: UInt8 = isChanged ? 2 : 1
        switch type {
        case is Bool.Type: return try cast(.bool, !isChanged)
        case is String.Type: return try cast(.text, isChanged ? "other" : "sample")
        case is Double.Type: return try cast(.number, Double(number))
        case is Float.Type: return try cast(.number, Float(number))
        case is Int.Type: return try cast(.signed(64), Int(number))
        case is Int8.Type: return try cast(.signed(8), Int8(number))
        case is Int16.Type: return try cast(.signed(16), Int16(number))
        case is Int32.Type: return try cast(.signed(32), Int32(number))
        case is Int64.Type: return try cast(.signed(64), Int64(number))
        case is UInt8.Type: return try cast(.unsigned(8), number)
        case is UInt16.Type: return try cast(.unsigned(16), UInt16(number))
        case is UInt32.Type: return try cast(.unsigned(32), UInt32(number))
        case is UInt64.Type: return try cast(.unsigned(64), UInt64(number))
        case is Data.Type: return try cast(.octets, Data([number]))
        default: break
        }
        guard depth < 12 else { throw HomeError.internal("\(type) contains itself") }
        let value = try type.init(from: SchemaDecoder(node, isChanged: isChanged, depth: depth + 1))
        if type is any OptionSet.Type { node.kind = .bitmap }
        return value
    }
}

extension VocabularyEnum {
    fileprivate static var nameList: [String] { allCases.map(\.rawValue) }
    fileprivate static var sample: Self { allCases.first ?? unrecognized }
}

/// The members that an object has been asked for by name before they were read: those need not be there.
private final class SchemaNames {
    var names: Set<String> = []
}

private struct SchemaMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: SchemaDecoder
    let absent: SchemaNames
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    private func has(_ key: Key) -> Bool { decoder.only == nil || decoder.only == key.stringValue }

    private func read<Value: Decodable>(_ type: Value.Type, _ key: Key, isRequired: Bool) throws -> Value {
        let node = SchemaNode()
        let isChanged = decoder.isChanged || decoder.changed == key.stringValue
        let value = try decoder.sample(type, node, isChanged: isChanged)
        if case .record(let fields) = decoder.node.kind {
            let field = FieldSchema(
                name: key.stringValue, kind: node.kind, isRequired: isRequired, isNullable: node.isNullable)
            decoder.node.kind = .record(fields + [field])
        }
        return value
    }

    func contains(_ key: Key) -> Bool {
        absent.names.insert(key.stringValue)
        return has(key)
    }

    func decodeNil(forKey key: Key) throws -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try read(type, key, isRequired: !absent.names.contains(key.stringValue))
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        has(key) ? try read(type, key, isRequired: false) : nil
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw HomeError.unimplemented() }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw HomeError.unimplemented()
    }
    func superDecoder() throws -> any Decoder { throw HomeError.unimplemented() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw HomeError.unimplemented() }
}

// The members that have a type of Swift's own go through functions of their own.
extension SchemaMembers {
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optional(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optional(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optional(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optional(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(type, key) }

    private func optional<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
        has(key) ? try read(type, key, isRequired: false) : nil
    }
}

/// A list with one item.
private struct SchemaItems: UnkeyedDecodingContainer {
    let decoder: SchemaDecoder
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 1 }
    var currentIndex = 0
    var isAtEnd: Bool { currentIndex > 0 }

    init(decoder: SchemaDecoder) {
        self.decoder = decoder
        decoder.node.kind = .list(.other)
    }

    mutating func decodeNil() throws -> Bool { false }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        currentIndex += 1
        let item = SchemaNode()
        let value = try decoder.sample(type, item, isChanged: decoder.isChanged)
        decoder.node.kind = .list(item.kind)
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { throw HomeError.unimplemented() }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw HomeError.unimplemented() }
    mutating func superDecoder() throws -> any Decoder { throw HomeError.unimplemented() }
}

private struct SchemaValue: SingleValueDecodingContainer {
    let decoder: SchemaDecoder
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool {
        decoder.node.isNullable = true
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decoder.sample(type, decoder.node, isChanged: decoder.isChanged)
    }
}
