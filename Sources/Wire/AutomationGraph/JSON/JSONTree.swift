import HomeTypes

/// The content of a JSON value.
indirect enum JSONContent {
    case null
    case bool(Bool)
    /// A number as it was written.
    case number(String)
    case text(String)
    case list([JSONTree])
    case object([JSONMember])
}

/// A member of a JSON object.
struct JSONMember {
    let name: String
    let value: JSONTree
}

/// A JSON value that still knows the bytes that it was read from.
///
/// Swift's own decoder keeps neither the order of members nor the text of numbers. A node of a later version has to be
/// written again byte for byte.
struct JSONTree {
    let content: JSONContent
    /// Where the value is in the bytes that were read.
    let range: Range<Int>

    /// The members of an object; nil for anything else.
    var members: [JSONMember]? {
        if case .object(let members) = content { members } else { nil }
    }

    /// The items of a list; nil for anything else.
    var items: [JSONTree]? {
        if case .list(let items) = content { items } else { nil }
    }

    /// The text of a string; nil for anything else.
    var text: String? {
        if case .text(let text) = content { text } else { nil }
    }

    /// A member of an object; nil where there is none.
    subscript(name: String) -> JSONTree? { members?.first { $0.name == name }?.value }

    /// The value without its text; nil for a number that is too large for any kind of number.
    var value: JSONObject.Value? {
        switch content {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .number(let text):
            if let integer = Int64(text) { return .integer(integer) }
            if let large = UInt64(text) { return .large(large) }
            guard let number = Double(text), number.isFinite else { return nil }
            return .number(number)
        case .text(let text): return .text(text)
        case .list(let items):
            var values: [JSONObject.Value] = []
            for item in items {
                guard let value = item.value else { return nil }
                values.append(value)
            }
            return .list(values)
        case .object(let members):
            var values: [String: JSONObject.Value] = [:]
            for member in members {
                guard let value = member.value.value else { return nil }
                values[member.name] = value
            }
            return .object(values)
        }
    }
}
