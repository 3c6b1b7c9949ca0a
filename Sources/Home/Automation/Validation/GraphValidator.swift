import AutomationGraph
import HomeTypes

/// Finds what is wrong with a graph.
public struct GraphValidator {
    /// What an expression can refer to, by the name of its node.
    enum Source {
        /// A trait's attributes, or an event's fields.
        case fields([FieldSchema])
        /// A node that reads nothing.
        case nothing(nodeType: String)
    }

    typealias Scope = [String: Source]

    let home: ValidationHome
    var issues: [ValidationIssue] = []
    /// The traits that start the automation with a change or an event.
    var startingTraits: Set<GraphTrait> = []
    /// The names of all nodes that have one.
    var names: Set<String> = []

    /// All issues of a graph, in the order of its nodes.
    public static func issues(of graph: Graph, in home: ValidationHome) -> [ValidationIssue] {
        var validator = GraphValidator(home: home)
        validator.validate(graph)
        return validator.issues
    }

    private init(home: ValidationHome) { self.home = home }

    mutating func report(_ path: String, _ type: ValidationIssueType, _ severity: ValidationIssueSeverity = .error) {
        issues.append(ValidationIssue(path, severity, type))
    }

    private mutating func validate(_ graph: Graph) {
        let root = "automationGraph"
        if let form = graph.otherVersion {
            let problem = Self.words(form.unknownGraphWord) ?? "its version is not \(Graph.version)."
            return reportUnknown(root, "the graph", problem)
        }
        let count = graph.nodes.reduce(0) { $0 + Self.count($1) }
        if count > GraphLimits.nodes {
            report(root, .tooManyNodes(nodeCount: count, nodeCountLimit: GraphLimits.nodes))
        }
        let size = graph.json.utf8.count
        if size > GraphLimits.bytes { report(root, .automationTooLarge(byteCount: size, limit: GraphLimits.bytes)) }
        findStartingTraits(graph.nodes)
        var scope: Scope = [:]
        validateRoot(graph.nodes, root, &scope)
    }

    private static func count(_ node: GraphNode) -> Int { node.children.reduce(1) { $0 + count($1.node) } }

    private mutating func findStartingTraits(_ nodes: [GraphNode]) {
        for node in nodes {
            switch node {
            case .attributeStarter(let reader): startingTraits.insert(reader.source.withoutType)
            case .eventStarter(let starter): startingTraits.insert(starter.source.withoutType)
            default: break
            }
            findStartingTraits(node.children.map(\.node))
        }
    }

    /// The outermost flow, which begins with what starts it.
    private mutating func validateRoot(_ nodes: [GraphNode], _ path: String, _ scope: inout Scope) {
        guard let first = nodes.first else { return report(path, .missingStarterNode) }
        let firstPath = "\(path).nodes[0]"
        switch first {
        case .attributeStarter, .eventStarter, .manualStarter: validateStarter(first, firstPath, &scope)
        case .select(let choices): validateSelect(choices, firstPath, &scope)
        case .unknown(let form): validateUnknown(form, firstPath)
        default:
            report(firstPath, .missingStarterNode)
            validate(first, firstPath, &scope)
        }
        validate(nodes, path, from: 1, &scope)
        if nodes.count > 1, case .delay = nodes[nodes.count - 1] {
            report("\(path).nodes[\(nodes.count - 1)]", .delayWithoutEffect, .warning)
        }
    }

    /// The choices of the select that an automation begins with.
    private mutating func validateSelect(_ choices: [GraphNode], _ path: String, _ scope: inout Scope) {
        if choices.isEmpty { report(path, .missingStarterNode) }
        for (index, choice) in choices.enumerated() {
            let choicePath = "\(path).nodes[\(index)]"
            switch choice {
            case .attributeStarter, .eventStarter, .manualStarter:
                let isDuplicate = choices[..<index].contains { $0.startsLike(choice) }
                if isDuplicate { report(choicePath, .duplicateStarterNode(reference: "the same starter")) }
                validateStarter(choice, choicePath, &scope)
            case .sequential(let nodes):
                guard let first = nodes.first, first.isStarter else {
                    report(choicePath, .missingStarterNode)
                    validate(nodes, choicePath, from: 0, &scope)
                    continue
                }
                validateStarter(first, "\(choicePath).nodes[0]", &scope)
                validate(nodes, choicePath, from: 1, &scope)
            case .unknown(let form): validateUnknown(form, choicePath)
            default:
                report(choicePath, .missingStarterNode)
                validate(choice, choicePath, &scope)
            }
        }
    }

    /// Nodes in order.
    private mutating func validate(_ nodes: [GraphNode], _ path: String, from start: Int, _ scope: inout Scope) {
        var isUnreachable = false
        for (index, node) in nodes.enumerated().dropFirst(start) {
            let nodePath = "\(path).nodes[\(index)]"
            if isUnreachable {
                report(nodePath, .unreachableBranch, .warning)
                isUnreachable = false
            }
            validate(node, nodePath, &scope)
            if case .condition(let condition) = node, condition.expression == .constant(.bool(false)) {
                isUnreachable = true
            }
        }
    }

    private mutating func validate(_ node: GraphNode, _ path: String, _ scope: inout Scope) {
        switch node {
        case .attributeStarter, .eventStarter, .manualStarter:
            report(path, .misplacedStarterNode)
            validateStarter(node, path, &scope)
        case .select(let choices):
            report(path, .misplacedSelectFlow)
            validateSelect(choices, path, &scope)
        case .sequential(let nodes): validate(nodes, path, from: 0, &scope)
        case .parallel(let branches): validateParallel(branches, path, &scope)
        case .condition(let condition):
            validateCondition(condition.expression, path, scope)
            if let duration = condition.duration, isDuration(duration, path), !Self.usual.contains(duration) {
                report(path, .conditionDurationOutOfRange(duration))
            }
        case .ifThen(let choice): validateChoice(choice, path, scope)
        case .stateReader(let reader): validateReader(reader, path, &scope)
        case .action(let action): validateAction(action, path)
        case .delay(let duration):
            guard isDuration(duration, path), !Self.usual.contains(duration) else { return }
            let isShort = (Duration.seconds(1)..<Self.usual.lowerBound).contains(duration)
            report(path, .delayDurationOutOfRange(duration), isShort ? .warning : .error)
        case .suppress(let duration):
            guard isDuration(duration, path), !Self.usual.contains(duration) else { return }
            report(path, .suppressionDurationOutOfRange(duration))
        case .unknown(let form): validateUnknown(form, path)
        }
    }

    /// The durations of the Home APIs.
    private static let usual = Duration.seconds(5)...Duration.seconds(86_400)

    private mutating func isDuration(_ duration: Duration, _ path: String) -> Bool {
        let limit = Duration.seconds(315_576_000_000)
        guard duration < .zero - limit || duration > limit else { return true }
        report(path, .invalidDuration(duration))
        return false
    }

    private mutating func validateParallel(_ branches: [GraphNode], _ path: String, _ scope: inout Scope) {
        if branches.count > GraphLimits.branches {
            report(path, .tooManyBranches(branchCount: branches.count, branchCountLimit: GraphLimits.branches))
        }
        let before = scope
        for (index, branch) in branches.enumerated() {
            let branchPath = "\(path).nodes[\(index)]"
            var own = before
            switch branch {
            case .delay: report(branchPath, .delayWithoutEffect, .warning)
            case .ifThen: report(branchPath, .misplacedFlow("an ifThen cannot be in a parallel flow"))
            default: break
            }
            validate(branch, branchPath, &own)
            // The nodes that follow wait for all branches, so they see what each of them has read.
            scope.merge(own) { old, _ in old }
        }
    }

    private mutating func validateChoice(_ choice: GraphIf, _ path: String, _ scope: Scope) {
        let branches =
            [("ifThen", choice.ifThen)]
            + choice.elseIfThens.enumerated().map { ("elseIfThens[\($0.offset)]", $0.element) }
        var isDecided = false
        for (place, branch) in branches {
            let branchPath = "\(path).\(place)"
            validateCondition(branch.condition, path, scope)
            if isDecided || branch.condition == .constant(.bool(false)) {
                report(branchPath, .unreachableBranch, .warning)
            }
            isDecided = isDecided || branch.condition == .constant(.bool(true))
            // What one branch reads is not available if another one runs.
            var own = scope
            validate(branch.nodes, branchPath, from: 0, &own)
        }
        guard let last = choice.elseThen else { return }
        if isDecided { report("\(path).elseThen", .unreachableBranch, .warning) }
        var own = scope
        validate(last, "\(path).elseThen", from: 0, &own)
    }
}

extension GraphTrait {
    /// The trait, whichever type it is named through.
    var withoutType: GraphTrait {
        GraphTrait(entity, trait: Vocabulary.trait(named: trait)?.name ?? trait)
    }
}

extension GraphNode {
    /// Whether two starters start for the same reason.
    fileprivate func startsLike(_ other: GraphNode) -> Bool {
        switch (self, other) {
        case (.manualStarter, .manualStarter): true
        case (.attributeStarter(let first), .attributeStarter(let second)): first.source == second.source
        case (.eventStarter(let first), .eventStarter(let second)):
            first.source == second.source && first.event == second.event && first.parameters == second.parameters
        default: false
        }
    }
}
