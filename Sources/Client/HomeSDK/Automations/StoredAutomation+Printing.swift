import AutomationGraph
import HomeTypes

// Prints as in the Home APIs' documents, with two more members for the parts of an event or an update. `description` is
// the author's text, so this is the form for debugging, which `print` uses for a type without a description.
extension StoredAutomation: CustomDebugStringConvertible {
    var debugDescription: String {
        let graph = record.graph
        let nodes =
            graph.otherVersion.map { "  automationGraph: \($0.text)" } ?? graph.nodes.printed("automationGraph: ", 1)
        return """
            Automation(id: \(id.debugDescription),
              structure: structure@\(structureID),
              name: \(name.debugDescription),
              description: \(description.debugDescription),
              isActive: \(isActive),
            \(nodes))
            """
    }
}

extension [GraphNode] {
    fileprivate func printed(_ label: String, _ depth: Int, as flow: String = "SequentialFlow") -> String {
        let margin = String(repeating: "  ", count: depth)
        guard !isEmpty else { return "\(margin)\(label)\(flow)(nodes: [])" }
        return "\(margin)\(label)\(flow)(nodes: [\n" + map { $0.printed(depth + 1) }.joined(separator: ",\n") + "])"
    }
}

extension GraphNode {
    fileprivate func printed(_ depth: Int) -> String {
        let margin = String(repeating: "  ", count: depth)
        func node(_ name: String, _ members: [String]) -> String {
            guard !members.isEmpty else { return "\(margin)\(name)()" }
            return "\(margin)\(name)(\n\(margin)  " + members.joined(separator: ",\n\(margin)  ") + ")"
        }
        switch self {
        case .sequential(let nodes): return nodes.printed("", depth)
        case .parallel(let nodes): return nodes.printed("", depth, as: "ParallelFlow")
        case .select(let nodes): return nodes.printed("", depth, as: "SelectFlow")
        case .attributeStarter(let reader): return node("Starter", reader.source.printed)
        case .eventStarter(let starter):
            let parameters = starter.parameters.isEmpty ? [] : ["parameters: \(printedJSON(starter.parameters))"]
            return node("Starter", starter.source.printed + ["event: \(starter.event.debugDescription)"] + parameters)
        case .manualStarter: return node("ManualStarter", [])
        case .stateReader(let reader): return node("StateReader", reader.source.printed)
        case .condition(let condition):
            let duration = condition.duration.map { ["for: \($0)"] } ?? []
            return node("Condition", ["expression: \(condition.expression.printed)"] + duration)
        case .action(let action): return node("Action", action.target.printed + action.behaviour.printed)
        case .delay(let duration): return node("Delay", ["for: \(duration)"])
        case .suppress(let duration): return node("Suppression", ["for: \(duration)"])
        case .unknown(let form): return node("UnknownNode", [form.text])
        case .ifThen(let choice):
            func branch(_ label: String, _ branch: GraphIf.Branch) -> String {
                "\(margin)  \(label): IfThen(condition: \(branch.condition.printed),\n"
                    + branch.nodes.printed("then: ", depth + 2) + ")"
            }
            var parts = [branch("ifThen", choice.ifThen)] + choice.elseIfThens.map { branch("elseIfThen", $0) }
            if let nodes = choice.elseThen { parts.append(nodes.printed("elseThen: ", depth + 1)) }
            return "\(margin)IfFlow(\n" + parts.joined(separator: ",\n") + ")"
        }
    }
}

extension GraphTrait {
    fileprivate var printed: [String] {
        let type = deviceType.map { Vocabulary.deviceType(named: $0)?.identifier ?? $0 }
        let known = Vocabulary.trait(named: trait).map { "\($0.name)@\($0.identifier)" } ?? trait
        return ["entity: \(NodeEntity(entity).description.debugDescription)"]
            + (type.map { ["deviceType: \($0.debugDescription)"] } ?? []) + ["trait: \(known.debugDescription)"]
    }
}

extension GraphAction.Behaviour {
    fileprivate var printed: [String] {
        switch self {
        case .command(let name, let parameters):
            ["command: \(name.debugDescription)"]
                + (parameters.isEmpty ? [] : ["parameters: \(printedJSON(parameters))"])
        case .update(let attributes): ["update: \(printedJSON(attributes))"]
        }
    }
}

extension GraphExpression {
    fileprivate var printed: String {
        switch self {
        case .constant(let value): printedJSON(value)
        case .reference(let name): name
        case .field(let name, let value): "\(value.printed).\(name)"
        case .item(let index, let list): "\(list.printed)[\(index.printed)]"
        case .operation(let operation, let operands):
            "\(operation.rawValue)(\(operands.map(\.printed).joined(separator: ", ")))"
        case .unknown(let form): form.text
        }
    }
}

private func printedJSON(_ members: [String: JSONObject.Value]) -> String { printedJSON(.object(members)) }

/// A value as JSON, with the members of objects in the order of their names.
private func printedJSON(_ value: JSONObject.Value) -> String {
    switch value {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .large(let value): "\(value)"
    case .number(let value): "\(value)"
    case .text(let value): value.debugDescription
    case .list(let items): "[\(items.map { printedJSON($0) }.joined(separator: ", "))]"
    case .object(let members):
        "{\(members.sorted { $0.key < $1.key }.map { "\($0.key): \(printedJSON($0.value))" }.joined(separator: ", "))}"
    }
}
