import Foundation

extension JSONObject.Value {
    /// The JSON of a value, without the detour through text, which costs many times as much.
    ///
    /// The result is what `JSONEncoder` writes and `JSONDecoder` reads again, each as it is without settings. A whole number
    /// is an integer, whatever its type was.
    /// - Throws: what the value's own `encode(to:)` throws, and `EncodingError` for numbers that are not finite.
    public init(encoding value: some Encodable) throws {
        let slot = EncodedSlot()
        try slot.encode(value, at: [])
        self = slot.value
    }

    /// A floating-point number as JSON represents it.
    fileprivate init(_ number: Double, at path: [any CodingKey]) throws {
        guard number.isFinite else {
            throw EncodingError.invalidValue(
                number, .init(codingPath: path, debugDescription: "JSON has no number that is not finite"))
        }
        if let integer = Int64(exactly: number) {
            self = .integer(integer)
        } else if let large = UInt64(exactly: number) {
            self = .large(large)
        } else {
            self = .number(number)
        }
    }
}

/// A place for a value that is being encoded. Its containers write into it.
private final class EncodedSlot {
    /// A part of an object or a list: already known, or a place of its own.
    enum Part {
        case value(JSONObject.Value)
        case slot(EncodedSlot)

        var value: JSONObject.Value {
            switch self {
            case .value(let value): value
            case .slot(let slot): slot.value
            }
        }
    }

    private enum Content {
        case empty
        case value(JSONObject.Value)
        case list([Part])
        case object([String: Part])
    }

    private var content = Content.empty

    var value: JSONObject.Value {
        switch content {
        // `JSONEncoder` writes an empty object for a value that encodes nothing.
        case .empty: .object([:])
        case .value(let value): value
        case .list(let parts): .list(parts.map(\.value))
        case .object(let parts): .object(parts.mapValues(\.value))
        }
    }

    var count: Int { if case .list(let parts) = content { parts.count } else { 0 } }

    func set(_ value: JSONObject.Value) { content = .value(value) }

    func beginList() { if case .list = content {} else { content = .list([]) } }

    func beginObject() { if case .object = content {} else { content = .object([:]) } }

    func append(_ part: Part) {
        guard case .list(var parts) = content else { return }
        // The list is not copied while it has one holder.
        content = .empty
        parts.append(part)
        content = .list(parts)
    }

    func set(_ part: Part, for name: String) {
        guard case .object(var parts) = content else { return }
        content = .empty
        parts[name] = part
        content = .object(parts)
    }

    func encode<Value: Encodable>(_ value: Value, at path: [any CodingKey]) throws {
        if let value = value as? JSONObject.Value {
            set(value)
        } else if let data = value as? Data {
            set(.text(data.base64EncodedString()))
        } else {
            try value.encode(to: SlotEncoder(slot: self, codingPath: path))
        }
    }

    static func part(of value: some Encodable, at path: [any CodingKey]) throws -> Part {
        let slot = EncodedSlot()
        try slot.encode(value, at: path)
        return .slot(slot)
    }
}

private struct SlotEncoder: Encoder {
    let slot: EncodedSlot
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        slot.beginObject()
        return KeyedEncodingContainer(ObjectContainer(slot: slot, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        slot.beginList()
        return ListContainer(slot: slot, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        ValueContainer(slot: slot, codingPath: codingPath)
    }
}

private struct ObjectContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: EncodedSlot
    let codingPath: [any CodingKey]

    private func set(_ value: JSONObject.Value, _ key: Key) { slot.set(.value(value), for: key.stringValue) }

    mutating func encodeNil(forKey key: Key) { set(.null, key) }
    mutating func encode(_ value: Bool, forKey key: Key) { set(.bool(value), key) }
    mutating func encode(_ value: String, forKey key: Key) { set(.text(value), key) }
    mutating func encode(_ value: Double, forKey key: Key) throws { set(try .init(value, at: codingPath + [key]), key) }
    mutating func encode(_ value: Float, forKey key: Key) throws {
        set(try .init(value.shortest, at: codingPath + [key]), key)
    }
    mutating func encode(_ value: Int, forKey key: Key) { set(.init(value), key) }
    mutating func encode(_ value: Int8, forKey key: Key) { set(.init(value), key) }
    mutating func encode(_ value: Int16, forKey key: Key) { set(.init(value), key) }
    mutating func encode(_ value: Int32, forKey key: Key) { set(.init(value), key) }
    mutating func encode(_ value: Int64, forKey key: Key) { set(.init(value), key) }
    mutating func encode(_ value: UInt, forKey key: Key) { set(.init(value), key) }
    mutating func encode(_ value: UInt8, forKey key: Key) { set(.init(value), key) }
    mutating func encode(_ value: UInt16, forKey key: Key) { set(.init(value), key) }
    mutating func encode(_ value: UInt32, forKey key: Key) { set(.init(value), key) }
    mutating func encode(_ value: UInt64, forKey key: Key) { set(.init(value), key) }

    mutating func encode(_ value: some Encodable, forKey key: Key) throws {
        slot.set(try EncodedSlot.part(of: value, at: codingPath + [key]), for: key.stringValue)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        nestedEncoder(key.stringValue, key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nestedEncoder(key.stringValue, key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { nestedEncoder("super", nil) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { nestedEncoder(key.stringValue, key) }

    private func nestedEncoder(_ name: String, _ key: Key?) -> SlotEncoder {
        let nested = EncodedSlot()
        slot.set(.slot(nested), for: name)
        return SlotEncoder(slot: nested, codingPath: codingPath + (key.map { [$0] } ?? []))
    }
}

private struct ListContainer: UnkeyedEncodingContainer {
    let slot: EncodedSlot
    let codingPath: [any CodingKey]
    var count: Int { slot.count }

    mutating func encodeNil() { slot.append(.value(.null)) }

    mutating func encode(_ value: some Encodable) throws {
        slot.append(try EncodedSlot.part(of: value, at: codingPath))
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nestedEncoder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nestedEncoder().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { nestedEncoder() }

    private func nestedEncoder() -> SlotEncoder {
        let nested = EncodedSlot()
        slot.append(.slot(nested))
        return SlotEncoder(slot: nested, codingPath: codingPath)
    }
}

private struct ValueContainer: SingleValueEncodingContainer {
    let slot: EncodedSlot
    let codingPath: [any CodingKey]

    mutating func encodeNil() { slot.set(.null) }
    mutating func encode(_ value: Bool) { slot.set(.bool(value)) }
    mutating func encode(_ value: String) { slot.set(.text(value)) }
    mutating func encode(_ value: Double) throws { slot.set(try .init(value, at: codingPath)) }
    mutating func encode(_ value: Float) throws { slot.set(try .init(value.shortest, at: codingPath)) }
    mutating func encode(_ value: Int) { slot.set(.init(value)) }
    mutating func encode(_ value: Int8) { slot.set(.init(value)) }
    mutating func encode(_ value: Int16) { slot.set(.init(value)) }
    mutating func encode(_ value: Int32) { slot.set(.init(value)) }
    mutating func encode(_ value: Int64) { slot.set(.init(value)) }
    mutating func encode(_ value: UInt) { slot.set(.init(value)) }
    mutating func encode(_ value: UInt8) { slot.set(.init(value)) }
    mutating func encode(_ value: UInt16) { slot.set(.init(value)) }
    mutating func encode(_ value: UInt32) { slot.set(.init(value)) }
    mutating func encode(_ value: UInt64) { slot.set(.init(value)) }
    mutating func encode(_ value: some Encodable) throws { try slot.encode(value, at: codingPath) }
}

extension JSONObject.Value {
    fileprivate init(_ number: some BinaryInteger) {
        self = Int64(exactly: number).map { .integer($0) } ?? .large(UInt64(truncatingIfNeeded: number))
    }
}

extension Float {
    /// The number with the fewest digits that rounds to this one, as JSON writes it.
    fileprivate var shortest: Double { Double(description) ?? Double(self) }
}
