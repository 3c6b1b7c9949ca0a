extension Graph {
    /// The same graph with names `n1`, `n2` and so on for the nodes that expressions refer to, in their order.
    ///
    /// A reference to a node that is not in the graph stays as it is. Validation reports it.
    public var numbered: Graph {
        guard otherVersion == nil else { return self }
        var numbering = GraphNumbering()
        for node in nodes { numbering.collect(node) }
        return Graph(nodes.map(numbering.renamed))
    }
}

private struct GraphNumbering {
    private var names: [String: String] = [:]

    mutating func collect(_ node: GraphNode) {
        switch node {
        case .attributeStarter(let reader), .stateReader(let reader): collect(reader.id)
        case .eventStarter(let starter): collect(starter.id)
        default: for child in node.children { collect(child.node) }
        }
    }

    private mutating func collect(_ name: String) {
        if names[name] == nil { names[name] = "n\(names.count + 1)" }
    }

    func renamed(_ node: GraphNode) -> GraphNode {
        switch node {
        case .sequential(let nodes): .sequential(nodes.map(renamed))
        case .parallel(let nodes): .parallel(nodes.map(renamed))
        case .select(let nodes): .select(nodes.map(renamed))
        case .attributeStarter(let reader): .attributeStarter(renamed(reader))
        case .stateReader(let reader): .stateReader(renamed(reader))
        case .eventStarter(let starter): .eventStarter(renamed(starter))
        case .condition(let condition):
            .condition(GraphCondition(renamed(condition.expression), for: condition.duration))
        case .ifThen(let choice):
            .ifThen(
                GraphIf(
                    renamed(choice.ifThen), elseIfThens: choice.elseIfThens.map(renamed),
                    elseThen: choice.elseThen?.map(renamed)))
        case .manualStarter, .action, .delay, .suppress, .unknown: node
        }
    }

    private func renamed(_ reader: GraphReader) -> GraphReader {
        GraphReader(id: names[reader.id] ?? reader.id, reader.source)
    }

    private func renamed(_ starter: GraphEventStarter) -> GraphEventStarter {
        var result = starter
        result.id = names[starter.id] ?? starter.id
        return result
    }

    private func renamed(_ branch: GraphIf.Branch) -> GraphIf.Branch {
        GraphIf.Branch(renamed(branch.condition), branch.nodes.map(renamed))
    }

    private func renamed(_ expression: GraphExpression) -> GraphExpression {
        switch expression {
        case .constant, .unknown: expression
        case .reference(let name): .reference(names[name] ?? name)
        case .field(let field, of: let value): .field(field, of: renamed(value))
        case .item(let index, of: let list): .item(renamed(index), of: renamed(list))
        case .operation(let operation, let operands): .operation(operation, operands.map(renamed))
        }
    }
}
