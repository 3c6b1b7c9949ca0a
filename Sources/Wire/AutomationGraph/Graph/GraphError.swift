/// Why a graph cannot be read.
public struct GraphError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault.
    public enum Kind: Sendable, Hashable {
        /// It does not have the form of a graph.
        case malformed
        /// It has too many bytes.
        case tooLarge
        /// It nests too deep.
        case tooDeep
    }

    /// The kind of fault.
    public var kind: Kind
    /// Where it is: a path as `automationGraph.nodes[2]`, or a byte.
    public var path: String
    /// What is wrong, and what to do.
    public var problem: String

    /// Describes a fault.
    public init(_ kind: Kind, _ path: String, _ problem: String) {
        self.kind = kind
        self.path = path
        self.problem = problem
    }

    public var description: String { "\(path): \(problem)" }
}

/// The bounds of what a graph may be.
public enum GraphLimits {
    /// The bytes of its JSON form.
    public static let bytes = 262_144
    /// How deep flows may nest.
    public static let flowDepth = 16
    /// How deep expressions may nest.
    public static let expressionDepth = 32
    /// How many nodes it may have, counted through all flows.
    public static let nodes = 500
    /// How many branches may run at the same time in one `parallel`.
    public static let branches = 100
    /// The bytes of a name: of a node, a type, a trait, an event or a command.
    public static let nameBytes = 256
}
