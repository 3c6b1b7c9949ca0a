import Foundation
import Yams

/// A camera as it is written: the text of each key before it is checked. The API accepts it, and the file of the API's
/// cameras holds it.
struct CameraEntry: Sendable, Equatable {
    /// The value of one key.
    enum Value: Sendable, Equatable {
        case text(String)
        case flag(Bool)
        case group([String: Value])
        /// A type that no key has; the check reports it.
        case list
        /// No value: the key's default counts.
        case none
    }

    /// All keys except the id.
    var values: [String: Value]

    /// No keys.
    init(values: [String: Value] = [:]) {
        self.values = values
    }

    /// The keys of a JSON object. `${` is escaped where the loader looks for variables, so that a client of the API cannot
    /// read the gateway's environment.
    init?(json: Data) {
        guard let object = try? JSONSerialization.jsonObject(with: json) as? [String: Any] else { return nil }
        var values: [String: Value] = [:]
        for (key, value) in object {
            values[key] = Self.value(
                json: value, hasVariables: ConfigurationLoader.cameraKeysWithVariables.contains(key))
        }
        self.values = values
    }

    /// The keys of a mapping of the file.
    init(node: Node) {
        var values: [String: Value] = [:]
        for (key, value) in node.mapping ?? [:] { values[key.string ?? ""] = Self.value(node: value) }
        self.values = values
    }

    /// The entry with its keys replaced by those of `patch`; `none` removes a key (RFC 7396).
    func merged(with patch: CameraEntry) -> CameraEntry {
        CameraEntry(values: Self.merge(values, patch.values))
    }

    private static func merge(_ old: [String: Value], _ new: [String: Value]) -> [String: Value] {
        var result = old
        for (key, value) in new {
            switch (old[key], value) {
            case (_, .none): result[key] = nil
            case (.group(let before)?, .group(let after)): result[key] = .group(merge(before, after))
            default: result[key] = value
            }
        }
        return result
    }

    /// The mapping as the config's loader reads it.
    func node(id: String) -> Node {
        var pairs = [(Node("id"), Self.quoted(id))]
        let known = ConfigurationLoader.cameraKeys
        let keys = known.filter { values[$0] != nil } + values.keys.filter { !known.contains($0) }.sorted()
        for key in keys where key != "id" { pairs.append((Node(key), Self.node(values[key] ?? .none))) }
        return Node(pairs)
    }

    private static func quoted(_ text: String) -> Node { Node(text, Tag(.str), .doubleQuoted) }

    private static func node(_ value: Value) -> Node {
        switch value {
        case .text(let text): quoted(text)
        case .flag(let flag): Node(flag ? "true" : "false", Tag(.bool))
        case .group(let values):
            Node(values.sorted { $0.key < $1.key }.map { (Node($0.key), node($0.value)) })
        case .list: Node([Node]())
        // In any other style it would be the word `null`.
        case .none: Node("null", Tag(.null), .plain)
        }
    }

    private static func value(json: Any, hasVariables: Bool) -> Value {
        switch json {
        case let text as String: .text(hasVariables ? EnvironmentReferences.escaped(text) : text)
        case let object as [String: Any]: .group(object.mapValues { value(json: $0, hasVariables: hasVariables) })
        case is NSNull: .none
        // Otherwise numbers are bridged to booleans.
        case let number as NSNumber:
            String(cString: number.objCType) == "c" ? .flag(number.boolValue) : .text(number.stringValue)
        default: .list
        }
    }

    private static func value(node: Node) -> Value {
        if let mapping = node.mapping {
            var values: [String: Value] = [:]
            for (key, value) in mapping { values[key.string ?? ""] = self.value(node: value) }
            return .group(values)
        }
        guard let scalar = node.scalar else { return .list }
        if node.null != nil { return .none }
        if scalar.style == .plain, ["true", "false"].contains(scalar.string) { return .flag(scalar.string == "true") }
        return .text(scalar.string)
    }
}
