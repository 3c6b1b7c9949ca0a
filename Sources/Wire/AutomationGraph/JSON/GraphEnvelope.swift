import HomeTypes

/// An automation as clients send it: a JSON object with a graph among its members.
///
/// The graph is kept as the text that it came as. What a later version added to it is then still there, byte for byte.
public struct GraphEnvelope: Sendable, Hashable {
    /// The text of the member `automationGraph`; nil if it is missing.
    public var graph: String?
    /// The other members.
    public var members: [String: JSONObject.Value]

    /// Reads the object.
    /// - Throws: ``GraphError``, which names the place.
    public init(json: some Collection<UInt8>) throws(GraphError) {
        let bytes = Array(json)
        let tree = try JSONTreeReader.read(bytes)
        guard let read = tree.members else { throw GraphError(.malformed, "the body", "must be a JSON object") }
        members = [:]
        for member in read {
            if member.name == "automationGraph" {
                graph = String(decoding: bytes[member.value.range], as: UTF8.self)
            } else if let value = member.value.value {
                members[member.name] = value
            } else {
                throw GraphError(.malformed, member.name, "has a number that is too large")
            }
        }
    }
}
