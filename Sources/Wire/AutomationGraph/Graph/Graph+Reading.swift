import HomeTypes

extension Graph {
    /// Reads the JSON form.
    /// - Throws: ``GraphError``, which names the place.
    public init(json: some Collection<UInt8>) throws(GraphError) {
        guard json.count <= GraphLimits.bytes else {
            throw GraphError(
                .tooLarge, "automationGraph",
                "the graph has \(json.count) bytes; at most \(GraphLimits.bytes) are allowed, so split the automation")
        }
        let bytes = Array(json)
        let tree = try JSONTreeReader.read(bytes)
        self = try GraphReading(bytes: bytes).graph(tree)
    }

    /// Reads the JSON form from text.
    public init(json: String) throws(GraphError) { try self.init(json: json.utf8) }
}

/// Turns a tree of JSON into nodes.
struct GraphReading {
    /// What the tree was read from.
    let bytes: [UInt8]

    func graph(_ tree: JSONTree) throws(GraphError) -> Graph {
        let path = "automationGraph"
        guard let members = tree.members else { throw malformed(path, "must be an object with version and nodes") }
        guard let version = tree["version"] else { throw malformed("\(path).version", "is missing; it is 1") }
        guard case .number(let number) = version.content, let number = Int64(number), number > 0 else {
            throw malformed("\(path).version", "must be a number from 1")
        }
        guard number == Graph.version, members.allSatisfy({ ["version", "nodes"].contains($0.name) }) else {
            return Graph(otherVersion: raw(tree))
        }
        return Graph(try nodes(tree, path, depth: 0))
    }

    func malformed(_ path: String, _ problem: String) -> GraphError { GraphError(.malformed, path, problem) }

    func raw(_ tree: JSONTree) -> RawForm { RawForm(text: String(decoding: bytes[tree.range], as: UTF8.self)) }

    func member(_ tree: JSONTree, _ name: String, _ path: String) throws(GraphError) -> JSONTree {
        guard let value = tree[name] else { throw malformed("\(path).\(name)", "is missing") }
        return value
    }

    /// A name, which is not empty.
    func text(_ tree: JSONTree, _ name: String, _ path: String) throws(GraphError) -> String {
        guard let text = try member(tree, name, path).text else {
            throw malformed("\(path).\(name)", "must be a string")
        }
        guard !text.isEmpty, text.utf8.count <= GraphLimits.nameBytes else {
            throw malformed("\(path).\(name)", "must have 1 to \(GraphLimits.nameBytes) bytes")
        }
        return text
    }

    func values(
        _ tree: JSONTree, _ name: String, _ path: String
    ) throws(GraphError) -> [String: JSONObject.Value]? {
        guard let member = tree[name] else { return nil }
        guard case .object(let values) = member.value else {
            throw malformed("\(path).\(name)", "must be an object, and its numbers must not exceed a double")
        }
        return values
    }

    func duration(_ tree: JSONTree, _ name: String, _ path: String) throws(GraphError) -> Duration {
        guard case .number(let text) = try member(tree, name, path).content, let duration = Duration(seconds: text)
        else {
            throw malformed("\(path).\(name)", "must be a number of seconds without an exponent, below 2000000000000")
        }
        return duration
    }

    func nodes(_ tree: JSONTree, _ path: String, depth: Int) throws(GraphError) -> [GraphNode] {
        guard depth <= GraphLimits.flowDepth else {
            throw GraphError(.tooDeep, path, "flows nest more than \(GraphLimits.flowDepth) deep; split the automation")
        }
        guard let items = try member(tree, "nodes", path).items else {
            throw malformed("\(path).nodes", "must be a list")
        }
        var nodes: [GraphNode] = []
        for (index, item) in items.enumerated() {
            nodes.append(try node(item, "\(path).nodes[\(index)]", depth: depth + 1))
        }
        return nodes
    }
}
