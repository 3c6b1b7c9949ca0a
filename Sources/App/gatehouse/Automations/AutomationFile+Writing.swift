import Foundation
import HomeTypes
import Yams

extension AutomationFile {
    /// The members that a file has. The others are the gateway's.
    static let names = [
        "name", "description", "isActive", "maxExecutionCount", "graceSeconds", "customData", "automationGraph",
    ]

    /// What is written first of an object, because people look for it there.
    private static let order = names + ["version", "type", "id", "entity", "deviceType", "trait"]

    /// A draft as YAML that `init` reads as the same values.
    static func yaml(_ members: [String: JSONObject.Value]) throws(HomeError) -> String {
        do {
            return try Yams.serialize(node: node(.object(members)), width: -1, allowUnicode: true)
        } catch {
            throw .encodingFailed("the automation cannot be written as YAML: \(error)")
        }
    }

    private static func node(_ value: JSONObject.Value) -> Node {
        switch value {
        case .null: return scalar("null")
        case .bool(let value): return scalar("\(value)")
        case .integer(let value): return scalar("\(value)")
        case .large(let value): return scalar("\(value)")
        case .number(let value): return scalar("\(value)")
        case .text(let text): return .scalar(.init(text, .init(.str), isPlain(text) ? .plain : .doubleQuoted))
        case .list(let items): return .sequence(.init(items.map { node($0) }))
        case .object(let members):
            func place(_ name: String) -> Int { order.firstIndex(of: name) ?? order.count }
            let sorted = members.sorted { (place($0.key), $0.key) < (place($1.key), $1.key) }
            return .mapping(.init(sorted.map { (node(.text($0.key)), node($0.value)) }))
        }
    }

    private static func scalar(_ text: String) -> Node { .scalar(.init(text, .implicit, .plain)) }

    /// Whether every reader of YAML, of version 1.1 too, takes the text for a text.
    private static func isPlain(_ text: String) -> Bool {
        let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        guard let first = text.utf8.first, !words.contains(text.lowercased()) else { return false }
        func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }
        return isLetter(first) && text.utf8.allSatisfy { isLetter($0) || (48...57).contains($0) || $0 == 95 }
    }
}
