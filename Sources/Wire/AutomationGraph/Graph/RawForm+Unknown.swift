import HomeTypes

/// What in a form is not known: a form of a later version has such words, and so has one with a typing mistake.
extension RawForm {
    /// A word that this version does not know.
    public struct UnknownWord: Sendable, Hashable {
        /// Whether it is the type of a node; the name of a member otherwise.
        public let isType: Bool
        /// The word.
        public let word: String
        /// The part of the form that has the member, for example `entity` or `elseIfThens[1]`; empty for the form itself.
        public let place: String
        /// What is known there, in alphabetical order.
        public let known: [String]
    }

    /// The first word that is not known in a node; nil if the form is not a node.
    public var unknownNodeWord: UnknownWord? {
        guard let tree, let type = tree["type"]?.text else { return nil }
        guard let names = GraphReading.members[type] else {
            return UnknownWord(isType: true, word: type, place: "", known: GraphReading.members.keys.sorted())
        }
        var parts: [(place: String, tree: JSONTree, names: Set<String>)] = [("", tree, names.union(["type"]))]
        func add(_ place: String, _ part: JSONTree?, _ names: Set<String>) {
            if let part { parts.append((place, part, names)) }
        }
        add("entity", tree["entity"], ["device", "structure"])
        add("ifThen", tree["ifThen"], ["condition", "nodes"])
        for (index, branch) in (tree["elseIfThens"]?.items ?? []).enumerated() {
            add("elseIfThens[\(index)]", branch, ["condition", "nodes"])
        }
        add("elseThen", tree["elseThen"], ["nodes"])
        return parts.lazy.compactMap { Self.unknownMember(of: $0.tree, $0.place, $0.names) }.first
    }

    /// The first member that is not known in an expression; nil if all are known, and do not belong together.
    public var unknownExpressionWord: UnknownWord? {
        let names = ["constant", "reference", "field", "item", "of"] + GraphOperator.allCases.map(\.rawValue)
        return tree.flatMap { Self.unknownMember(of: $0, "", Set(names)) }
    }

    /// The first member that is not known in a whole graph; nil if it has another version.
    public var unknownGraphWord: UnknownWord? {
        guard let tree, tree["version"]?.value == .integer(Graph.version) else { return nil }
        return Self.unknownMember(of: tree, "", ["version", "nodes"])
    }

    private var tree: JSONTree? { try? JSONTreeReader.read(Array(text.utf8)) }

    private static func unknownMember(of tree: JSONTree, _ place: String, _ names: Set<String>) -> UnknownWord? {
        guard let other = tree.members?.first(where: { !names.contains($0.name) }) else { return nil }
        return UnknownWord(isType: false, word: other.name, place: place, known: names.sorted())
    }
}
