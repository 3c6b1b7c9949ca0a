import Foundation
import HomeTypes

/// Some value of JSON.
public enum JSONValue: Sendable, Hashable, Codable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value):
            // Whole numbers are written without a point: many readers treat 5.0 as another type.
            if let whole = Int64(exactly: value) {
                try container.encode(whole)
            } else {
                try container.encode(value)
            }
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// The attributes of each trait as JSON, by the traits' names.
    static func attributes(of traits: TraitCollection) -> [String: JSONValue] {
        // Traits of the vocabulary can always be written, and what was written can be read.
        guard let data = try? JSONEncoder().encode(traits),
            case .object(let members)? = try? JSONDecoder().decode(JSONValue.self, from: data)
        else { return [:] }
        return members
    }

    /// The number, or nil for another kind of value.
    public var number: Double? {
        guard case .number(let value) = self else { return nil }
        return value
    }

    /// The text, or nil for another kind of value.
    public var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// The value at a path such as `color.spectrumHSV.hue`; nil if there is none.
    public subscript(path path: String) -> JSONValue? {
        var value = self
        for name in path.split(separator: ".") {
            guard case .object(let members) = value, let member = members[String(name)] else { return nil }
            value = member
        }
        return value
    }

    /// Writes a value at a path. Anything on the way that is not an object is replaced.
    mutating func set(_ value: JSONValue, at path: some Collection<Substring>) {
        guard let first = path.first else {
            self = value
            return
        }
        var members: [String: JSONValue] = [:]
        if case .object(let known) = self { members = known }
        var member = members[String(first)] ?? .null
        member.set(value, at: path.dropFirst())
        members[String(first)] = member
        self = .object(members)
    }

    /// Adds the members of another object. Objects in both are joined, lists are concatenated, and for anything else
    /// the other object's value wins.
    mutating func merge(_ other: JSONValue) {
        switch (self, other) {
        case (.object(var members), .object(let others)):
            for (name, value) in others {
                if var member = members[name] {
                    member.merge(value)
                    members[name] = member
                } else {
                    members[name] = value
                }
            }
            self = .object(members)
        case (.array(let items), .array(let others)): self = .array(items + others.filter { !items.contains($0) })
        default: self = other
        }
    }
}
