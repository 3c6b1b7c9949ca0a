import Foundation
import Yams

/// Sections of a config that somebody has drafted, and wants to have checked before they write them into the file. Nothing
/// of a draft takes effect.
struct ConfigurationDraft {
    /// The sections that a draft may have. No file is opened to check one of them.
    static let keys = ["http", "media", "network", "rtsp", "rtmp", "recording", "mqtt", "cameras"]

    private let root: Node

    /// The sections of a JSON object; nil if it is none. `${` is escaped, so that a client of the API does not learn which
    /// variables the gateway's environment has.
    init?(json: Data) {
        guard let object = try? JSONSerialization.jsonObject(with: json) as? [String: Any] else { return nil }
        self.root = Self.node(object)
    }

    /// What is wrong with it, by the rules of the config file.
    var problems: [ConfigurationError.Problem] {
        let reader = YAMLReader()
        var loader = ConfigurationLoader(reader: reader, directory: "/", environment: [:])
        _ = loader.configuration(.init(node: root, path: ""), keys: Self.keys)
        return reader.problems
    }

    private static func node(_ object: [String: Any]) -> Node {
        let pairs: [(Node, Node)] = object.sorted { $0.key < $1.key }.map { (Node($0.key), node(json: $0.value)) }
        return Node(pairs)
    }

    private static func node(json: Any) -> Node {
        switch json {
        case let text as String: return Node(EnvironmentReferences.escaped(text), Tag(.str), .doubleQuoted)
        case let object as [String: Any]: return node(object)
        case let list as [Any]:
            let nodes: [Node] = list.map { node(json: $0) }
            return Node(nodes)
        // Otherwise numbers are bridged to booleans.
        case let number as NSNumber:
            if String(cString: number.objCType) == "c" {
                return Node(number.boolValue ? "true" : "false", Tag(.bool), .plain)
            }
            return Node(number.stringValue, .implicit, .plain)
        default: return Node("null", Tag(.null), .plain)
        }
    }
}
