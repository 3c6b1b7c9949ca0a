import AutomationGraph

/// An automation as the engine runs it.
public struct AutomationDefinition: Sendable, Hashable {
    /// Names it.
    public var id: String
    /// The structure whose clock, sun and presence it uses.
    public var structureID: String
    /// The principal with whose rights its commands run.
    public var owner: String
    /// What people call it.
    public var name: String
    /// Whether its starters start it. A person can still run one that is not active.
    public var isActive: Bool
    /// The maximum number of runs; nil for no limit.
    public var maxExecutionCount: Int32?
    /// How late a moment of its schedule may run, in seconds.
    public var graceSeconds: Int
    /// The nodes.
    public var graph: Graph
    /// The places of nodes that validation found wrong, for example `automationGraph.nodes[2]`. A starter among them never
    /// starts, a condition does not hold, and an action fails. The rest runs.
    public var invalidPaths: Set<String>

    /// How late a schedule may run unless an automation says otherwise.
    public static let standardGraceSeconds = 900

    /// Describes an automation.
    public init(
        id: String, structureID: String, owner: String, name: String = "", isActive: Bool = true,
        maxExecutionCount: Int32? = nil, graceSeconds: Int = AutomationDefinition.standardGraceSeconds, graph: Graph,
        invalidPaths: Set<String> = []
    ) {
        self.id = id
        self.structureID = structureID
        self.owner = owner
        self.name = name
        self.isActive = isActive
        self.maxExecutionCount = maxExecutionCount
        self.graceSeconds = graceSeconds
        self.graph = graph
        self.invalidPaths = invalidPaths
    }
}

/// What the engine keeps of an automation between its runs.
public struct AutomationState: Sendable, Hashable, Codable {
    /// Its starters are ignored until then, in milliseconds since 1970; nil if they are not.
    public var suppressedUntil: Int64?
    /// How often it has run.
    public var executionCount: Int32 = 0
    /// Whether it is paused because it started too often. A person has to release it.
    public var isPaused = false
    /// Until when each scheduled starter is decided, by its path, in seconds since 1970. Earlier moments are not due again.
    public var decidedUntil: [String: Int] = [:]
    /// The hash of the graph of its latest run. A run whose graph has been replaced cannot continue after a restart.
    public var runGraph: UInt64?

    /// The state of an automation that has never run.
    public init() {}
}
