import AutomationGraph
import HomeTypes

/// Lays a graph out in steps.
struct ProgramCompiler {
    static let root = "automationGraph"

    let invalidPaths: Set<String>
    var steps: [Program.Step] = []
    var starters: [Program.Starter] = []
    /// The step after the first starter, whether or not that starter is valid.
    var stepAfterFirstStarter: Int?
    var readers: [Program.Reader] = []
    var expressions: [Program.Expression] = []
    var actions: [Program.Action] = []
    var slots: [ExpressionProgram.Slot] = []

    init(invalidPaths: Set<String>) { self.invalidPaths = invalidPaths }

    mutating func compile(_ graph: Graph) {
        guard let first = graph.nodes.first else { return }
        let firstPath = "\(Self.root).nodes[0]"
        if first.isStarter {
            addStarter(first, firstPath)
            stepAfterFirstStarter = steps.count
        } else if case .select(let choices) = first {
            compileSelect(choices, firstPath)
        } else {
            return
        }
        add(graph.nodes, Self.root, from: 1)
        add(.end)
        nameFields()
    }

    private mutating func compileSelect(_ choices: [GraphNode], _ path: String) {
        var jumps: [Int] = []
        var bare: [Int] = []
        var isFirstBare = false
        for (index, choice) in choices.enumerated() {
            let choicePath = "\(path).nodes[\(index)]"
            if choice.isStarter {
                if stepAfterFirstStarter == nil { isFirstBare = true }
                if addStarter(choice, choicePath) { bare.append(starters.count - 1) }
            } else if case .sequential(let nodes) = choice, let first = nodes.first, first.isStarter {
                addStarter(first, "\(choicePath).nodes[0]")
                if !isFirstBare { stepAfterFirstStarter = stepAfterFirstStarter ?? steps.count }
                add(nodes, choicePath, from: 1)
                jumps.append(add(.jump(0)))
            }
        }
        for jump in jumps { steps[jump].operation = .jump(steps.count) }
        for starter in bare { starters[starter].target = steps.count }
        if isFirstBare { stepAfterFirstStarter = steps.count }
    }

    @discardableResult
    private mutating func add(_ operation: Program.Operation, _ path: String = "") -> Int {
        steps.append(Program.Step(operation: operation, path: path))
        return steps.count - 1
    }

    /// Adds a starter that starts with the next step.
    /// - Returns: whether it can start anything.
    @discardableResult
    private mutating func addStarter(_ node: GraphNode, _ path: String) -> Bool {
        let isInvalid = invalidPaths.contains(path)
        func starter(_ kind: Program.Starter.Kind, _ source: GraphTrait? = nil) -> Program.Starter {
            Program.Starter(kind: kind, path: path, source: source, target: steps.count)
        }
        switch node {
        case .attributeStarter(let reader):
            addReader(.attribute, reader.id, reader.source, path, isInvalid)
            guard !isInvalid else { return false }
            starters.append(starter(.attribute, reader.source.named))
        case .eventStarter(let event):
            addReader(.event, event.id, event.source, path, isInvalid)
            guard !isInvalid else { return false }
            let source = event.source.named
            let name = Vocabulary.trait(named: source.trait).flatMap {
                Vocabulary.event(named: event.event, of: $0)?.name
            }
            if source.trait == Google.TimeTrait.name {
                // Validation has refused a rule that cannot be read.
                guard let rule = try? ScheduleRule(event: name ?? event.event, parameters: event.parameters) else {
                    return false
                }
                starters.append(starter(.schedule(rule), source))
            } else {
                let parameters = event.parameters.sorted { $0.key < $1.key }.map {
                    Program.EventParameter(name: $0.key, wanted: $0.value, value: RuntimeValue($0.value))
                }
                starters.append(starter(.event(name ?? event.event, parameters: parameters), source))
            }
        case .manualStarter:
            guard !isInvalid else { return false }
            starters.append(starter(.manual))
        default: return false
        }
        return true
    }

    private mutating func addReader(
        _ kind: Program.Reader.Kind, _ reference: String, _ source: GraphTrait, _ path: String, _ isInvalid: Bool
    ) {
        readers.append(
            Program.Reader(kind: kind, path: path, reference: reference, source: source.named, isInvalid: isInvalid))
    }

    private mutating func add(_ nodes: [GraphNode], _ path: String, from start: Int = 0) {
        for (index, node) in nodes.enumerated().dropFirst(start) { add(node, "\(path).nodes[\(index)]") }
    }

    private mutating func add(_ node: GraphNode, _ path: String) {
        let isInvalid = invalidPaths.contains(path)
        switch node {
        case .sequential(let nodes): add(nodes, path)
        case .parallel(let branches): addParallel(branches, path)
        case .condition(let condition):
            let expression = isInvalid ? nil : self.expression(condition.expression)
            add(.condition(expression, duration: condition.duration?.wholeMilliseconds), path)
        case .ifThen(let choice): addChoice(choice, path, isInvalid)
        case .stateReader(let reader):
            addReader(.state, reader.id, reader.source, path, isInvalid)
            add(.read(readers.count - 1), path)
        case .action(let action):
            var action = action
            action.target = action.target.named
            actions.append(Program.Action(action: action, isInvalid: isInvalid))
            add(.act(actions.count - 1), path)
        case .delay(let duration): add(.delay(max(0, duration.wholeMilliseconds)), path)
        case .suppress(let duration): add(.suppress(max(0, duration.wholeMilliseconds)), path)
        case .attributeStarter, .eventStarter, .manualStarter, .select, .unknown: break
        }
    }

    private mutating func addParallel(_ branches: [GraphNode], _ path: String) {
        let fork = add(.fork([]), path)
        let jump = add(.jump(0))
        var targets: [Int] = []
        for (index, branch) in branches.enumerated() {
            targets.append(steps.count)
            add(branch, "\(path).nodes[\(index)]")
            add(.end)
        }
        steps[fork].operation = .fork(targets)
        steps[jump].operation = .jump(steps.count)
    }

    private mutating func addChoice(_ choice: GraphIf, _ path: String, _ isInvalid: Bool) {
        let place = add(.choose([], otherwise: 0), path)
        var flows = [("ifThen", choice.ifThen)]
        flows += choice.elseIfThens.enumerated().map { ("elseIfThens[\($0.offset)]", $0.element) }
        var branches: [Program.Branch] = []
        var jumps: [Int] = []
        for (name, flow) in flows {
            let condition = expression(flow.condition)
            branches.append(Program.Branch(name: name, condition: condition, target: steps.count))
            add(flow.nodes, "\(path).\(name)")
            jumps.append(add(.jump(0)))
        }
        if let last = choice.elseThen {
            branches.append(Program.Branch(name: "elseThen", condition: nil, target: steps.count))
            add(last, "\(path).elseThen")
        }
        for jump in jumps { steps[jump].operation = .jump(steps.count) }
        // A choice that was found wrong takes none of its flows.
        steps[place].operation = .choose(isInvalid ? [] : branches, otherwise: steps.count)
    }

    private mutating func expression(_ expression: GraphExpression) -> Int? {
        guard let program = try? ExpressionProgram(expression) else { return nil }
        let numbers = program.slots.map { slot in
            if let number = slots.firstIndex(of: slot) { return number }
            slots.append(slot)
            return slots.count - 1
        }
        expressions.append(
            Program.Expression(
                program: program, slots: numbers, names: program.slots.map { "\($0.reference).\($0.field)" }))
        return expressions.count - 1
    }

    private mutating func nameFields() {
        for index in readers.indices {
            readers[index].fields = slots.enumerated().filter { $0.element.reference == readers[index].reference }
                .map { ($0.element.field, $0.offset) }
        }
    }
}

extension GraphTrait {
    /// The same with the trait's name, whether it was named by that or by its identifier.
    var named: GraphTrait {
        GraphTrait(entity, deviceType: deviceType, trait: Vocabulary.trait(named: trait)?.name ?? trait)
    }
}

extension Duration {
    /// Whole milliseconds, within what times of the engine can be added to.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return min(max(seconds, -1_000_000_000_000), 1_000_000_000_000) * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}
