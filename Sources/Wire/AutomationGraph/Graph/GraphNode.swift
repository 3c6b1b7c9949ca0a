import HomeTypes

/// One element of a graph.
public indirect enum GraphNode: Sendable, Hashable {
    /// Nodes in order.
    case sequential([GraphNode])
    /// Branches that run at the same time. What comes next waits for all of them.
    case parallel([GraphNode])
    /// Starters, each of which starts what comes next.
    case select([GraphNode])
    /// Starts when an attribute of a trait changes.
    case attributeStarter(GraphReader)
    /// Starts when an event happens.
    case eventStarter(GraphEventStarter)
    /// Starts when a person says so.
    case manualStarter
    /// Ends its path unless an expression is true.
    case condition(GraphCondition)
    /// Runs one of several flows.
    case ifThen(GraphIf)
    /// Reads a trait at this point.
    case stateReader(GraphReader)
    /// Sends a command or writes attributes.
    case action(GraphAction)
    /// Waits.
    case delay(Duration)
    /// Ignores the starters for this long after the automation has started.
    case suppress(Duration)
    /// What this version does not know.
    case unknown(RawForm)
}

/// A starter or state reader, whose attributes expressions can name.
public struct GraphReader: Sendable, Hashable {
    /// The name by which expressions refer to it; unique in the graph.
    public var id: String
    /// What it reads.
    public var source: GraphTrait

    /// Describes a reader.
    public init(id: String, _ source: GraphTrait) {
        self.id = id
        self.source = source
    }
}

/// A starter for an event of a trait.
public struct GraphEventStarter: Sendable, Hashable {
    /// The name by which expressions refer to the fields of the event; unique in the graph.
    public var id: String
    /// The trait that sends the event.
    public var source: GraphTrait
    /// The name of the event.
    public var event: String
    /// The values that fields of the event must have.
    public var parameters: [String: JSONObject.Value]

    /// Describes a starter.
    public init(id: String, _ source: GraphTrait, event: String, parameters: [String: JSONObject.Value] = [:]) {
        self.id = id
        self.source = source
        self.event = event
        self.parameters = parameters
    }
}

/// A condition.
public struct GraphCondition: Sendable, Hashable {
    /// What must be true.
    public var expression: GraphExpression
    /// How long it must stay true; nil if it only has to be true now.
    public var duration: Duration?

    /// Describes a condition.
    public init(_ expression: GraphExpression, for duration: Duration? = nil) {
        self.expression = expression
        self.duration = duration
    }
}

/// A choice between flows: the first whose condition is true runs.
public struct GraphIf: Sendable, Hashable {
    /// A flow with its condition.
    public struct Branch: Sendable, Hashable {
        /// When it runs.
        public var condition: GraphExpression
        /// What runs.
        public var nodes: [GraphNode]

        /// Describes a branch.
        public init(_ condition: GraphExpression, _ nodes: [GraphNode]) {
            self.condition = condition
            self.nodes = nodes
        }
    }

    /// The first branch.
    public var ifThen: Branch
    /// The branches after it.
    public var elseIfThens: [Branch]
    /// What runs if no condition is true; nil for nothing.
    public var elseThen: [GraphNode]?

    /// Describes a choice.
    public init(_ ifThen: Branch, elseIfThens: [Branch] = [], elseThen: [GraphNode]? = nil) {
        self.ifThen = ifThen
        self.elseIfThens = elseIfThens
        self.elseThen = elseThen
    }
}

/// Something that an automation does.
public struct GraphAction: Sendable, Hashable {
    /// What it does.
    public enum Behaviour: Sendable, Hashable {
        /// Sends a command of the trait, by its name.
        case command(String, parameters: [String: JSONObject.Value])
        /// Writes attributes of the trait.
        case update([String: JSONObject.Value])
    }

    /// The trait that receives it.
    public var target: GraphTrait
    /// What it does.
    public var behaviour: Behaviour
    /// How long it waits for a device that is offline; nil to fail immediately. JSON has it as `defer`, in seconds.
    public var deferral: Duration?

    /// Describes an action.
    public init(_ target: GraphTrait, _ behaviour: Behaviour, deferral: Duration? = nil) {
        self.target = target
        self.behaviour = behaviour
        self.deferral = deferral
    }
}

extension GraphNode {
    /// The nodes inside it, each with its place in it, for example `nodes[0]` or `elseThen.nodes[1]`.
    public var children: [(place: String, node: GraphNode)] {
        func listed(_ nodes: [GraphNode], _ prefix: String = "") -> [(place: String, node: GraphNode)] {
            nodes.enumerated().map { ("\(prefix)nodes[\($0.offset)]", $0.element) }
        }
        switch self {
        case .sequential(let nodes), .parallel(let nodes), .select(let nodes): return listed(nodes)
        case .ifThen(let choice):
            return listed(choice.ifThen.nodes, "ifThen.")
                + choice.elseIfThens.enumerated().flatMap { listed($0.element.nodes, "elseIfThens[\($0.offset)].") }
                + listed(choice.elseThen ?? [], "elseThen.")
        case .attributeStarter, .eventStarter, .manualStarter, .condition, .stateReader, .action, .delay, .suppress,
            .unknown:
            return []
        }
    }

    /// The expressions of the node itself, each with its place in it.
    public var expressions: [(place: String, expression: GraphExpression)] {
        switch self {
        case .condition(let condition): return [("expression", condition.expression)]
        case .ifThen(let choice):
            return [("ifThen.condition", choice.ifThen.condition)]
                + choice.elseIfThens.enumerated().map { ("elseIfThens[\($0.offset)].condition", $0.element.condition) }
        default: return []
        }
    }

    /// Whether this version knows the node and everything in it.
    public var isUnderstood: Bool {
        if case .unknown = self { return false }
        return expressions.allSatisfy(\.expression.isUnderstood) && children.allSatisfy(\.node.isUnderstood)
    }

    /// Whether it starts an automation.
    public var isStarter: Bool {
        switch self {
        case .attributeStarter, .eventStarter, .manualStarter: true
        default: false
        }
    }
}
