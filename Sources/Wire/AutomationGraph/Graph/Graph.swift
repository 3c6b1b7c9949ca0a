import HomeTypes

/// The logic of an automation: the nodes that its starters lead to, in order.
///
/// A graph has one JSON form, `{"version": 1, "nodes": […]}`. ``init(json:)`` reads it and ``json`` writes it. What a later
/// version of the form adds is kept byte for byte, and the graph is then not understood and never run.
public struct Graph: Sendable, Hashable {
    /// The version of the form that this code reads and writes.
    public static let version: Int64 = 1

    /// The nodes of the outermost flow.
    public var nodes: [GraphNode]
    /// The whole form, if it is of another version. There are no nodes then.
    public let otherVersion: RawForm?

    /// Describes a graph.
    public init(_ nodes: [GraphNode] = []) {
        self.nodes = nodes
        otherVersion = nil
    }

    init(otherVersion: RawForm) {
        nodes = []
        self.otherVersion = otherVersion
    }

    /// The same graph where the outermost flow holds only a sequential flow: its nodes in that place. The outermost
    /// flow is a sequential one by itself (Home APIs, "implicit sequential flow").
    public var withoutOuterFlow: Graph {
        guard nodes.count == 1, case .sequential(let inner) = nodes[0] else { return self }
        return Graph(inner).withoutOuterFlow
    }

    /// Whether this version knows everything in the graph. Another graph is kept, but it does not run.
    public var isUnderstood: Bool { otherVersion == nil && nodes.allSatisfy(\.isUnderstood) }
}

/// JSON that a later version wrote: a node, an expression or a whole graph. It is kept as its text.
public struct RawForm: Sendable, Hashable {
    /// The text, which is one JSON value.
    public let text: String

    init(text: String) { self.text = text }
}

/// What a node acts on or reads from.
public enum GraphEntity: Sendable, Hashable {
    /// A device by its identifier.
    case device(String)
    /// A structure by its identifier.
    case structure(String)

    /// The identifier.
    public var id: String {
        switch self {
        case .device(let id), .structure(let id): id
        }
    }
}

/// A trait of an entity.
public struct GraphTrait: Sendable, Hashable {
    /// The device or structure.
    public var entity: GraphEntity
    /// The name or identifier of the type of which the device has the trait; nil for structures.
    public var deviceType: String?
    /// The name or identifier of the trait.
    public var trait: String

    /// Names a trait.
    public init(_ entity: GraphEntity, deviceType: String? = nil, trait: String) {
        self.entity = entity
        self.deviceType = deviceType
        self.trait = trait
    }
}
