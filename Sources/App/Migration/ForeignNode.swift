import Yams

/// A value in a file of YAML, with the path of keys that leads to it.
struct ForeignNode {
    let node: Node
    /// The path, as in `streams.yard`.
    let path: String
    /// The line of the value, from 1.
    let line: Int

    init(_ node: Node) {
        self.init(node, path: "", line: 1)
    }

    private init(_ node: Node, path: String, line: Int) {
        (self.node, self.path) = (node, path)
        self.line = node.mark?.line ?? line
    }

    /// A mapping's keys and values in the order of the file. The keys of `<<` come last and give way to the others
    /// (YAML 1.1, merge keys), through at most four levels.
    var entries: [(key: String, value: ForeignNode)] { entries(levels: 4) }

    private func entries(levels: Int) -> [(key: String, value: ForeignNode)] {
        guard let mapping = node.mapping else { return [] }
        var result: [(key: String, value: ForeignNode)] = []
        var seen = Set<String>()
        var merged: [ForeignNode] = []
        for (keyNode, value) in mapping {
            let key = keyNode.scalar?.string ?? ""
            if key == "<<" {
                let sources = value.sequence.map(Array.init) ?? [value]
                merged += sources.prefix(16).map { ForeignNode($0, path: path, line: line) }
            } else if seen.insert(key).inserted {
                let childPath = path.isEmpty ? key : "\(path).\(key)"
                result.append((key, ForeignNode(value, path: childPath, line: keyNode.mark?.line ?? line)))
            }
        }
        if levels > 0 {
            for source in merged {
                result += source.entries(levels: levels - 1).filter { seen.insert($0.key).inserted }
            }
        }
        return result
    }

    /// The value of a key; nil if there is none, or nothing after it.
    subscript(_ key: String) -> ForeignNode? {
        entries.first { $0.key == key }.flatMap { $0.value.isNull ? nil : $0.value }
    }

    /// The elements of a sequence. Any other value is treated as a sequence of itself alone.
    var elements: [ForeignNode] {
        if isNull { return [] }
        guard let sequence = node.sequence else { return [self] }
        return sequence.enumerated().map { ForeignNode($0.element, path: "\(path)[\($0.offset)]", line: line) }
    }

    /// Whether nothing stands there.
    var isNull: Bool { node.null != nil || node.scalar?.string.isEmpty == true }

    /// A scalar's text.
    var text: String? { isNull ? nil : node.scalar?.string }

    /// A scalar's whole number, also in quotes.
    var number: Int? { text.flatMap { Int($0) } }

    /// A scalar's `true`, `yes`, `on` or their opposites, also in quotes.
    var isTrue: Bool? {
        switch text?.lowercased() {
        case "true", "yes", "on", "y": true
        case "false", "no", "off", "n": false
        default: nil
        }
    }
}
