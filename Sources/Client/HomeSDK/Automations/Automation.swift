import AutomationGraph
import HomeTypes

/// What a draft and an automation have in common (Home APIs, `BaseAutomation`).
public protocol BaseAutomation: Sendable {
    /// The identifier; empty for a draft.
    var id: String { get }
    /// The structure that it belongs to; empty for a draft that does not name one.
    var structureID: String { get }
    /// The name that people gave it.
    var name: String { get }
    /// What it does, as its author describes it.
    var description: String { get }
    /// Whether its starters start it.
    var isActive: Bool { get }
    /// Its nodes; nil for a graph that this version of the library does not know.
    var automationGraph: SequentialFlow? { get }
}

/// An automation that has not been created (Home APIs, `DraftAutomation`).
public protocol DraftAutomation: BaseAutomation {}

/// An automation of a structure (Home APIs, `Automation`). A value is a snapshot.
public protocol Automation: BaseAutomation, Identifiable where ID == String {
    /// Whether all of it can run. Parts of an automation whose device has been removed cannot.
    var isValid: Bool { get }
    /// Whether it is running.
    var isRunning: Bool { get }
    /// What is wrong with it.
    var validationIssues: [AutomationValidationIssue] { get }
    /// Whether `execute()` can start it.
    var manuallyExecutable: Bool { get }
    /// Whether this version of the library knows all of its nodes.
    var compatibleWithSdk: Bool { get }
    /// How many times it may run; nil for no limit.
    var maxExecutionCount: Int32? { get }
    /// What the app stores with it, at most 4 KiB.
    var customData: [String: String] { get }

    /// Runs it: from its manual starter, or from the node after its first starter.
    /// - Throws: `failedPrecondition` if it is already running, or cannot be run by hand.
    func execute() async throws
    /// Stops its run.
    /// - Throws: `failedPrecondition` if it is not running.
    func stop() async throws
    /// Changes its name, description, activity, count or graph.
    /// - Returns: the automation as it is now. This value does not change.
    /// - Throws: `aborted` if it has been changed since this value was read; `invalidArgument` with the issues of a graph
    ///   that is refused.
    @discardableResult
    nonisolated(nonsending) func update(_ change: (MutableAutomationData) -> Void) async throws -> any Automation
    /// Stores data of the app with it, and replaces what was stored before.
    /// - Throws: as `update`.
    @discardableResult
    func putCustomData(_ data: [String: String]) async throws -> any Automation
}

/// What `update` can change (Home APIs, `MutableAutomationData`).
public final class MutableAutomationData {
    /// The name.
    public var name: String
    /// The description.
    public var description: String
    /// Whether its starters start it.
    public var isActive: Bool
    /// How many times it may run; nil for no limit.
    public var maxExecutionCount: Int32?
    /// Its nodes. A new graph is validated like a new automation.
    public var automationGraph: SequentialFlow?

    init(_ automation: any Automation) {
        name = automation.name
        description = automation.description
        isActive = automation.isActive
        maxExecutionCount = automation.maxExecutionCount
        automationGraph = automation.automationGraph
    }
}
