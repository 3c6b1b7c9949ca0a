/// The attributes of a trait. Each is declared as `@Attribute public var name: Value?`.
///
/// In JSON, an attribute that the device does not support is absent, and one without a value is `null`. Names that this
/// version does not know are ignored.
public protocol TraitAttributes: VocabularyRecord {
    /// The names of all attributes, as JSON has them.
    static var names: [String] { get }

    /// Attributes of which none is supported.
    init()

    /// Adopts the attributes that a newer report contains. The others stay as they are.
    mutating func merge(_ newer: Self)
}

/// An attribute of a trait: it has a value, is null, or is not supported by the device.
@propertyWrapper
public struct Attribute<Value: Codable & Hashable & Sendable>: Hashable, Sendable {
    private enum State: Hashable, Sendable {
        case unsupported
        case null
        case value(Value)
    }

    private var state: State

    private init(_ state: State) { self.state = state }

    /// An attribute with a value; with nil or without an argument, one that the device does not support.
    public init(wrappedValue: Value? = nil) {
        state = wrappedValue.map { .value($0) } ?? .unsupported
    }

    /// An attribute that the device does not support.
    public static var unsupported: Attribute { Attribute(.unsupported) }

    /// An attribute that the device supports, without a current value.
    public static var null: Attribute { Attribute(.null) }

    /// The value. A supported attribute that is set to nil stays supported and becomes null.
    public var wrappedValue: Value? {
        get {
            if case .value(let value) = state { value } else { nil }
        }
        set {
            if let newValue {
                state = .value(newValue)
            } else if isSupported {
                state = .null
            }
        }
    }

    /// The attribute itself, which says more than its value.
    public var projectedValue: Attribute {
        get { self }
        set { self = newValue }
    }

    /// Whether the device supports the attribute, even if it does not have a value now.
    public var isSupported: Bool { state != .unsupported }

    /// Adopts a newer report, unless it does not contain the attribute.
    public mutating func merge(_ newer: Attribute) {
        if newer.isSupported { self = newer }
    }
}

extension KeyedDecodingContainer {
    /// Reads an attribute: absent is not supported, and `null` is supported without a value. Synthesized decoding of
    /// attributes calls this.
    public func decode<Value>(_ type: Attribute<Value>.Type, forKey key: Key) throws -> Attribute<Value> {
        guard contains(key) else { return .unsupported }
        guard try !decodeNil(forKey: key) else { return .null }
        return Attribute(wrappedValue: try self.decode(Value.self, forKey: key))
    }
}

extension KeyedEncodingContainer {
    /// Writes an attribute in the form that it is read in. Synthesized encoding of attributes calls this.
    public mutating func encode<Value>(_ attribute: Attribute<Value>, forKey key: Key) throws {
        guard attribute.isSupported else { return }
        if let value = attribute.wrappedValue {
            try self.encode(value, forKey: key)
        } else {
            try encodeNil(forKey: key)
        }
    }
}

// A wrapped property is coded by the containers above, which see whether its key is there. On its own, it does not have
// an absent form.
extension Attribute: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = container.decodeNil() ? .null : Attribute(wrappedValue: try container.decode(Value.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value = wrappedValue { try container.encode(value) } else { try container.encodeNil() }
    }
}
