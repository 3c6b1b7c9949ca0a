/// The topic of a discovery message: `prefix/component/[node/]object/config`, or `prefix/device/[node/]object/config` for
/// a message that describes a whole device (Home Assistant, MQTT discovery).
struct DiscoveryTopic: Hashable, Sendable {
    /// For example `light`, or `device`.
    let component: String
    /// The name of the node, if the topic has one.
    let node: String?
    /// The name of the object.
    let object: String

    /// Reads a topic; nil for one that is not a discovery topic below `prefix`.
    init?(_ topic: String, prefix: String) {
        guard topic.hasPrefix(prefix + "/"), topic.hasSuffix("/config"), topic.utf8.count <= TopicName.longest else {
            return nil
        }
        let parts = topic.dropFirst(prefix.count + 1).split(separator: "/", omittingEmptySubsequences: false)
        guard (3...4).contains(parts.count), parts.allSatisfy(Self.isName) else { return nil }
        component = String(parts[0])
        node = parts.count == 4 ? String(parts[1]) : nil
        object = String(parts[parts.count - 2])
    }

    /// The topics that discovery messages come from.
    static func filters(prefix: String) -> [String] { ["\(prefix)/+/+/config", "\(prefix)/+/+/+/config"] }

    private static func isName(_ part: Substring) -> Bool {
        !part.isEmpty
            && part.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == 0x5F || byte == 0x2D
            }
    }

    /// The name of the entity if it does not have a `unique_id`.
    var path: String { ([component] + (node.map { [$0] } ?? []) + [object]).joined(separator: "/") }
}
