import HomeTypes

extension GraphReading {
    func expression(_ tree: JSONTree, _ path: String, depth: Int = 1) throws(GraphError) -> GraphExpression {
        guard depth <= GraphLimits.expressionDepth else {
            throw GraphError(
                .tooDeep, path, "expressions nest more than \(GraphLimits.expressionDepth) deep; use more conditions")
        }
        guard let members = tree.members, !members.isEmpty else {
            throw malformed(path, "must be an object with constant, reference, field, item or an operator")
        }
        switch Set(members.map(\.name)) {
        case ["constant"]:
            guard let value = tree["constant"]?.value else {
                throw malformed("\(path).constant", "has a number that exceeds a double")
            }
            return .constant(value)
        case ["reference"]: return .reference(try text(tree, "reference", path))
        case ["field", "of"]:
            return .field(
                try text(tree, "field", path),
                of: try expression(try member(tree, "of", path), "\(path).of", depth: depth + 1))
        case ["item", "of"]:
            let index = try expression(try member(tree, "item", path), "\(path).item", depth: depth + 1)
            return .item(index, of: try expression(try member(tree, "of", path), "\(path).of", depth: depth + 1))
        default: break
        }
        guard members.count == 1, let operation = GraphOperator(rawValue: members[0].name) else {
            return .unknown(raw(tree))
        }
        let name = operation.rawValue
        guard let items = members[0].value.items else {
            throw malformed("\(path).\(name)", "must be a list of operands")
        }
        var operands: [GraphExpression] = []
        for (index, item) in items.enumerated() {
            operands.append(try expression(item, "\(path).\(name)[\(index)]", depth: depth + 1))
        }
        return .operation(operation, operands)
    }
}
