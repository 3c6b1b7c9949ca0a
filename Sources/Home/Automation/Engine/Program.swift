import AutomationGraph
import HomeTypes

/// A graph in the form that the engine runs: a sequence of steps, with jumps.
///
/// The place of a node names its step, so a record of a run leads back to the step where it continues.
final class Program: Sendable {
    /// One thing to do.
    enum Operation: Sendable, Hashable {
        /// The number of an expression, nil for one that cannot be evaluated; and for how many milliseconds it must hold.
        case condition(Int?, duration: Int64?)
        case choose([Branch], otherwise: Int)
        /// The number of a reader.
        case read(Int)
        /// The number of an action.
        case act(Int)
        /// Milliseconds.
        case delay(Int64)
        case suppress(Int64)
        /// The first steps of the branches. The strand continues with the next step after them.
        case fork([Int])
        case jump(Int)
        /// A strand ends.
        case end
    }

    /// A flow of a choice.
    struct Branch: Sendable, Hashable {
        /// Its place in the choice, for example `elseIfThens[0]`.
        var name: String
        /// The number of its condition; nil for one that cannot be evaluated, and for `elseThen`.
        var condition: Int?
        /// Its first step.
        var target: Int
    }

    /// An operation and the place of its node.
    struct Step: Sendable {
        var operation: Operation
        var path: String
    }

    /// A value that a field of an event must have.
    struct EventParameter: Sendable {
        var name: String
        var wanted: JSONObject.Value
        /// The same in the form in which values are compared; nil for null.
        var value: RuntimeValue?
    }

    /// What starts a run.
    struct Starter: Sendable {
        enum Kind: Sendable {
            case attribute
            case event(String, parameters: [EventParameter])
            case schedule(ScheduleRule)
            case manual
        }

        var kind: Kind
        var path: String
        /// The trait; nil for a manual starter.
        var source: GraphTrait?
        /// The first step of the run.
        var target: Int
    }

    /// A starter or a state reader, whose values expressions name.
    struct Reader: Sendable {
        enum Kind: Sendable { case attribute, event, state }

        var kind: Kind
        var path: String
        var reference: String
        var source: GraphTrait
        /// The attributes or fields that expressions name, and the numbers of their values.
        var fields: [(name: String, slot: Int)] = []
        /// Whether it was found wrong. It has no values then.
        var isInvalid = false
    }

    /// An expression with the numbers of the values that it needs, in the order of its slots.
    struct Expression: Sendable {
        var program: ExpressionProgram
        var slots: [Int]
        /// What the record calls each of them, for example `n1.onOff`.
        var names: [String]
    }

    /// An action; invalid ones fail.
    struct Action: Sendable {
        var action: GraphAction
        var isInvalid: Bool
    }

    let steps: [Step]
    /// Where a run begins when a person starts an automation without a manual starter; nil if it has no starter at all.
    private let stepAfterFirstStarter: Int?
    let starters: [Starter]
    /// All readers, with those of the starters first.
    let readers: [Reader]
    let expressions: [Expression]
    let actions: [Action]
    /// How many values a run has.
    let slotCount: Int
    /// Distinguishes graphs. It is the same after a restart of the gateway.
    let hash: UInt64
    private let stepsByPath: [String: Int]

    init(_ graph: Graph, invalidPaths: Set<String> = []) {
        var compiler = ProgramCompiler(invalidPaths: invalidPaths)
        if graph.isUnderstood, !invalidPaths.contains(ProgramCompiler.root) { compiler.compile(graph) }
        steps = compiler.steps
        starters = compiler.starters
        stepAfterFirstStarter = compiler.stepAfterFirstStarter
        readers = compiler.readers
        expressions = compiler.expressions
        actions = compiler.actions
        slotCount = compiler.slots.count
        hash = Self.hash(of: graph.json)
        var byPath: [String: Int] = [:]
        for (number, step) in compiler.steps.enumerated() where !step.path.isEmpty { byPath[step.path] = number }
        stepsByPath = byPath
    }

    /// FNV-1a, which unlike Swift's own hashes is the same in each process.
    static func hash(of text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }

    /// The step of a node; nil for a place that has none.
    func step(at path: String) -> Int? { stepsByPath[path] }

    /// Where a run begins that this trigger starts; nil if the graph does not have such a starter.
    func start(of trigger: Trigger) -> Int? {
        if let starter = starters.first(where: { $0.path == trigger.path }) { return starter.target }
        return trigger.kind == .manual && trigger.path.isEmpty ? stepAfterFirstStarter : nil
    }

    /// The trigger's place if a person runs it: the manual starter, or nothing for the node after the first starter.
    var manualPath: String {
        for starter in starters { if case .manual = starter.kind { return starter.path } }
        return ""
    }

    /// The devices and structures that any node names.
    var entities: Set<String> {
        var result = Set(starters.compactMap { $0.source?.entity.id })
        result.formUnion(readers.map(\.source.entity.id))
        result.formUnion(actions.map(\.action.target.entity.id))
        return result
    }
}
