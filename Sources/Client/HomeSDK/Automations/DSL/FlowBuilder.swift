import AutomationGraph

/// The nodes of a body in the making.
public struct FlowContent: Sendable {
    var nodes: [GraphNode]
    /// Whether each node is a branch of a parallel flow, as the passes of a loop are.
    var areBranches = false
}

/// What the builders of bodies have in common.
public protocol NodeBuilder {}

extension NodeBuilder {
    /// Adds a node.
    public static func buildExpression(_ node: some Node) -> FlowContent { FlowContent(nodes: [node.graphNode]) }

    /// Adds a node of any kind.
    public static func buildExpression(_ node: any Node) -> FlowContent { FlowContent(nodes: [node.graphNode]) }

    /// Adds several nodes.
    public static func buildExpression(_ nodes: [any Node]) -> FlowContent {
        FlowContent(nodes: nodes.map(\.graphNode))
    }

    /// Joins the statements of a body.
    public static func buildBlock(_ parts: FlowContent...) -> FlowContent { FlowContent(nodes: parts.flatMap(\.nodes)) }

    /// Adds the first of two branches.
    public static func buildEither(first part: FlowContent) -> FlowContent { part }

    /// Adds the second of two branches.
    public static func buildEither(second part: FlowContent) -> FlowContent { part }

    /// Adds a branch that may be absent.
    public static func buildOptional(_ part: FlowContent?) -> FlowContent { part ?? FlowContent(nodes: []) }

    /// Adds statements that need a newer system.
    public static func buildLimitedAvailability(_ part: FlowContent) -> FlowContent { part }
}

/// Builds the body of an automation or a flow. Loops, choices and lists of nodes put their nodes in order.
@resultBuilder public enum FlowBuilder: NodeBuilder {
    /// Joins the passes of a loop.
    public static func buildArray(_ parts: [FlowContent]) -> FlowContent { FlowContent(nodes: parts.flatMap(\.nodes)) }
}

/// Builds the body of a parallel flow. One pass of a loop with several nodes is one branch, whose nodes run in order, and so
/// are the nodes of an `if` or of a case of a `switch`. If such a body is only a loop, its passes stay branches.
@resultBuilder public enum ParallelFlowBuilder: NodeBuilder {
    /// Joins the statements of a body.
    public static func buildBlock(_ parts: FlowContent...) -> FlowContent {
        FlowContent(nodes: parts.flatMap(\.nodes), areBranches: parts.allSatisfy(\.areBranches))
    }

    /// Makes each pass of a loop a branch.
    public static func buildArray(_ parts: [FlowContent]) -> FlowContent {
        FlowContent(nodes: parts.flatMap { $0.asBranches }, areBranches: true)
    }

    /// Makes the first of two bodies a branch.
    public static func buildEither(first part: FlowContent) -> FlowContent {
        FlowContent(nodes: part.asBranches, areBranches: true)
    }

    /// Makes the second of two bodies a branch.
    public static func buildEither(second part: FlowContent) -> FlowContent {
        FlowContent(nodes: part.asBranches, areBranches: true)
    }

    /// Makes a body that may be absent a branch.
    public static func buildOptional(_ part: FlowContent?) -> FlowContent {
        FlowContent(nodes: part?.asBranches ?? [], areBranches: true)
    }
}

extension FlowContent {
    /// The nodes as branches of a parallel flow.
    fileprivate var asBranches: [GraphNode] { nodes.count > 1 && !areBranches ? [.sequential(nodes)] : nodes }
}
