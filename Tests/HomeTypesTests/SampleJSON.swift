import Foundation
import HomeTypes

/// Writes JSON that a type of the vocabulary reads: it decodes the type and answers each question with a value that fits.
struct SampleJSON {
    private var seed: UInt64 = 1

    /// The members of an object of this type.
    /// - Parameter nullEvery: one member of this many is null, if it can be; 0 for none.
    mutating func object<Kind: Decodable>(of type: Kind.Type, nullEvery: Int) throws -> Data {
        let recorder = Recorder(nullEvery: nullEvery)
        recorder.seed = self.seed
        // A type without members asks for none.
        recorder.root.members = [:]
        _ = try type.init(from: SamplingDecoder(recorder: recorder, codingPath: []))
        self.seed = recorder.seed
        return try JSONSerialization.data(withJSONObject: recorder.root.json, options: [.fragmentsAllowed])
    }

    /// The enums that the attributes and commands of a trait contain.
    static func enums<Kind: Trait>(of trait: Kind.Type) throws -> [any VocabularyEnum.Type] {
        let recorder = Recorder(nullEvery: 0)
        _ = try Kind.Attributes(from: SamplingDecoder(recorder: recorder, codingPath: []))
        for command in trait.supportedCommandTypes {
            let inner = Recorder(nullEvery: 0, enums: recorder)
            _ = try command.init(from: SamplingDecoder(recorder: inner, codingPath: []))
        }
        return recorder.enums
    }
}

/// A value of JSON that is being made.
private final class Node {
    var members: [String: Node]?
    var items: [Node]?
    var scalar: Any = NSNull()

    var json: Any {
        if let members { return members.mapValues(\.json) }
        if let items { return items.map(\.json) }
        return scalar
    }
}

private final class Recorder {
    let nullEvery: Int
    var seed: UInt64 = 1
    var root = Node()
    private let parent: Recorder?
    private var found: [any VocabularyEnum.Type] = []

    init(nullEvery: Int, enums parent: Recorder? = nil) {
        self.nullEvery = nullEvery
        self.parent = parent
    }

    var enums: [any VocabularyEnum.Type] { found }

    func meet(_ type: any VocabularyEnum.Type) {
        found.append(type)
        parent?.meet(type)
    }

    func next() -> UInt64 {
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return seed >> 33
    }

    func isNull() -> Bool { nullEvery > 0 && next() % UInt64(nullEvery) == 0 }
}

private struct SamplingDecoder: Decoder {
    let recorder: Recorder
    var node: Node
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(recorder: Recorder, codingPath: [any CodingKey], node: Node? = nil) {
        self.recorder = recorder
        self.node = node ?? recorder.root
        self.codingPath = codingPath
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if node.members == nil { node.members = [:] }
        return KeyedDecodingContainer(SamplingKeys<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        node.items = []
        return SamplingItems(decoder: self, count: 2)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { SamplingValue(decoder: self) }

    /// Makes a value of a type at a node.
    func value<Value: Decodable>(_ type: Value.Type, at node: Node) throws -> Value {
        let number = recorder.next()
        func cast(_ value: Any) throws -> Value {
            guard let value = value as? Value else { throw HomeError.internal("\(value) is not a \(type)") }
            return value
        }
        func scalar(_ value: Any) throws -> Value {
            node.scalar = value
            return try cast(value)
        }
        if let choice = type as? any VocabularyEnum.Type {
            recorder.meet(choice)
            let names = choice.names.components(separatedBy: ", ")
            node.scalar = names[Int(number) % names.count]
            return try JSONDecoder().decode(type, from: Data("\"\(names[Int(number) % names.count])\"".utf8))
        }
        switch type {
        case is Bool.Type: return try scalar(number % 2 == 0)
        case is String.Type: return try scalar("ü\(number)")
        case is Double.Type: return try scalar(Double(number % 1_000) / 8)
        case is Float.Type: return try scalar(Float(number % 1_000) / 8)
        case is Int.Type: return try scalar(Int(number % 100))
        case is Int8.Type: return try scalar(Int8(number % 100))
        case is Int16.Type: return try scalar(Int16(number % 100))
        case is Int32.Type: return try scalar(Int32(number % 100))
        case is Int64.Type: return try scalar(Int64(number % 100))
        case is UInt8.Type: return try scalar(UInt8(number % 100))
        case is UInt16.Type: return try scalar(UInt16(number % 100))
        case is UInt32.Type: return try scalar(UInt32(number % 4))
        case is UInt64.Type: return try scalar(UInt64(number % 100))
        case is Data.Type:
            let bytes = Data("\(number)".utf8)
            node.scalar = bytes.base64EncodedString()
            return try cast(bytes)
        default:
            return try type.init(from: SamplingDecoder(recorder: recorder, codingPath: [], node: node))
        }
    }
}

private struct SamplingKeys<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: SamplingDecoder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }

    func decodeNil(forKey key: Key) throws -> Bool {
        guard decoder.recorder.isNull() else { return false }
        decoder.node.members?[key.stringValue] = Node()
        return true
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let node = Node()
        decoder.node.members?[key.stringValue] = node
        return try decoder.value(type, at: node)
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

private struct SamplingItems: UnkeyedDecodingContainer {
    let decoder: SamplingDecoder
    let count: Int?
    var codingPath: [any CodingKey] { [] }
    var currentIndex = 0
    var isAtEnd: Bool { currentIndex >= (count ?? 0) }

    init(decoder: SamplingDecoder, count: Int) {
        self.decoder = decoder
        self.count = count
    }

    mutating func decodeNil() throws -> Bool { false }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        currentIndex += 1
        let node = Node()
        decoder.node.items?.append(node)
        return try decoder.value(type, at: node)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { throw HomeError.unimplemented() }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw HomeError.unimplemented() }
    mutating func superDecoder() throws -> any Decoder { throw HomeError.unimplemented() }
}

private struct SamplingValue: SingleValueDecodingContainer {
    let decoder: SamplingDecoder
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { decoder.recorder.isNull() }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decoder.value(type, at: decoder.node)
    }
}
