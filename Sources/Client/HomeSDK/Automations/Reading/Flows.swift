import AutomationGraph
import HomeTypes

/// Nodes that run in order (Home APIs, `SequentialFlow`).
public struct SequentialFlow: Flow {
    let content: [GraphNode]
    let types: AutomationTypes
    public var graphNode: GraphNode { .sequential(content) }
    public var nodes: [any Node] { content.map { $0.view(types) } }

    init(_ content: [GraphNode], _ types: AutomationTypes = .all) {
        self.content = content
        self.types = types
    }
}

/// Nodes that run at the same time (Home APIs, `ParallelFlow`). The next node waits for all of them.
public struct ParallelFlow: Flow {
    let content: [GraphNode]
    let types: AutomationTypes
    public var graphNode: GraphNode { .parallel(content) }
    public var nodes: [any Node] { content.map { $0.view(types) } }

    init(_ content: [GraphNode], _ types: AutomationTypes = .all) {
        self.content = content
        self.types = types
    }
}

/// Starters, each of which starts what comes next (Home APIs, `SelectFlow`).
public struct SelectFlow: Flow {
    let content: [GraphNode]
    let types: AutomationTypes
    public var graphNode: GraphNode { .select(content) }
    public var nodes: [any Node] { content.map { $0.view(types) } }

    init(_ content: [GraphNode], _ types: AutomationTypes = .all) {
        self.content = content
        self.types = types
    }
}

/// A flow with the condition under which it runs (Home APIs, `IfThen`).
public struct IfThen: Sendable, Hashable {
    let branch: GraphIf.Branch
    let types: AutomationTypes
    /// When it runs.
    public var condition: any AutomationExpression { branch.condition.view }
    /// What runs.
    public var then: SequentialFlow { SequentialFlow(branch.nodes, types) }
}

/// A choice between flows (Home APIs, `IfFlow`): the first whose condition is true runs, and then what comes next.
public struct IfFlow: Node {
    var choice: GraphIf
    let types: AutomationTypes
    public var graphNode: GraphNode { .ifThen(choice) }
    /// The first flow.
    public var ifThen: IfThen { IfThen(branch: choice.ifThen, types: types) }
    /// The flows after it.
    public var elseIfThens: [IfThen] { choice.elseIfThens.map { IfThen(branch: $0, types: types) } }
    /// What runs if no condition is true; nil for nothing.
    public var elseThen: SequentialFlow? { choice.elseThen.map { SequentialFlow($0, types) } }

    init(_ choice: GraphIf, _ types: AutomationTypes = .all) {
        self.choice = choice
        self.types = types
    }
}
