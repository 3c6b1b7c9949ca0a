import AutomationGraph
import HomeTypes

extension GraphValidator {
    mutating func validateCondition(_ expression: GraphExpression, _ path: String, _ scope: Scope) {
        switch shape(of: expression, path, scope) {
        case .bool, .unknown: break
        default: report(path, .invalidConditionType)
        }
    }

    /// The kind of value of an expression. Problems inside it are reported, and the kind is then unknown.
    private mutating func shape(of expression: GraphExpression, _ path: String, _ scope: Scope) -> ExpressionShape {
        switch expression {
        case .constant(let constant):
            if let shape = ExpressionShape(constant) { return shape }
            report(path, .invalidOperand(.equals, expected: "a value and not null"))
        case .reference(let name):
            if source(name, path, scope) != nil {
                report(path, .invalidOperand(.equals, expected: "an attribute of \(name) and not the whole of it"))
            }
        case .field(let field, of: .reference(let name)):
            return self.field(field, of: source(name, path, scope), path)
        case .field(let field, of: let value): return self.field(field, of: value, path, scope)
        case .item(let index, of: let list):
            let isNumber = [.number, .unknown].contains(shape(of: index, path, scope))
            let isList = [.list, .unknown].contains(shape(of: list, path, scope))
            if !isNumber || !isList { report(path, .invalidOperand(.contains, expected: "a list and a number in it")) }
        case .operation(let operation, let operands):
            guard operation.operandCount.contains(operands.count) else {
                report(path, .invalidArgumentCount(operation, count: operands.count))
                return .bool
            }
            var shapes: [ExpressionShape] = []
            for operand in operands { shapes.append(shape(of: operand, path, scope)) }
            validate(operation, operands, shapes, path)
            return .bool
        case .unknown(let form): validateUnknownExpression(form, path)
        }
        return .unknown
    }

    private mutating func source(_ name: String, _ path: String, _ scope: Scope) -> [FieldSchema]? {
        switch scope[name] {
        case nil: report(path, .invalidReference(name))
        case .nothing(let type): report(path, .unsupportedNodeOutput(nodeType: type))
        case .fields(let fields): return fields
        }
        return nil
    }

    private mutating func field(_ name: String, of fields: [FieldSchema]?, _ path: String) -> ExpressionShape {
        guard let fields else { return .unknown }
        guard let field = fields.first(where: { $0.name == name }) else {
            report(path, .invalidField(name: name))
            return .unknown
        }
        if ["sunriseTime", "sunsetTime"].contains(name), !home.hasCoordinates {
            report(path, .missingStructureAddress(structureID: home.structureID), .warning)
        }
        return ExpressionShape(field.kind)
    }

    private mutating func field(
        _ name: String, of value: GraphExpression, _ path: String, _ scope: Scope
    ) -> ExpressionShape {
        let parts: Set<String>
        switch shape(of: value, path, scope) {
        case .record(let fields): return field(name, of: fields, path)
        case .unknown: return .unknown
        case .time: parts = ["hours", "minutes", "seconds", "nanos"]
        case .date(let own): parts = own
        case .bool, .number, .text, .choice, .list: parts = []
        }
        if !parts.contains(name) { report(path, .invalidField(name: name)) }
        return parts.contains(name) ? .number : .unknown
    }

    private mutating func validate(
        _ operation: GraphOperator, _ operands: [GraphExpression], _ shapes: [ExpressionShape], _ path: String
    ) {
        switch operation {
        case .and, .or, .not:
            if !shapes.allSatisfy({ [.bool, .unknown].contains($0) }) {
                report(path, .invalidOperand(operation, expected: "true or false"))
            }
        case .contains: validateContains(shapes, path)
        case .equals, .notEquals: validateComparison(operation, operands, shapes, path)
        case .greaterThan, .greaterThanOrEquals, .lessThan, .lessThanOrEquals, .between:
            guard shapes.allSatisfy(\.isOrdered) else {
                return report(
                    path, .invalidOperand(operation, expected: "a number, a string, a time of day or a date"))
            }
            validateComparison(operation, operands, shapes, path)
        }
    }

    private mutating func validateComparison(
        _ operation: GraphOperator, _ operands: [GraphExpression], _ shapes: [ExpressionShape], _ path: String
    ) {
        let others = shapes.dropFirst()
        // The ends of a range are also compared with each other.
        let endsFit =
            operation != .between || (shapes[1].isComparable(with: shapes[2]) && shapes[1] == shapes[2])
            || shapes[1...].contains(.unknown)
        guard others.allSatisfy({ shapes[0].isComparable(with: $0) }), endsFit else {
            return report(path, .invalidArgumentsForOperator(operation))
        }
        for (operand, other) in [(0, 1), (1, 0)] where shapes.count == 2 {
            if case .choice(let names) = shapes[operand], case .constant(.text(let name)) = operands[other],
                !names.contains(name)
            {
                report(path, .invalidOperand(operation, expected: "one of \(names.joined(separator: ", "))"))
            }
        }
    }

    private mutating func validateContains(_ shapes: [ExpressionShape], _ path: String) {
        switch (shapes[0], shapes[1]) {
        case (.unknown, _), (_, .unknown), (.list, _), (.text, .text), (.number, .number): break
        case (.text, _), (.number, _): report(path, .invalidArgumentsForOperator(.contains))
        default: report(path, .invalidOperand(.contains, expected: "a list, a string or a bitmap"))
        }
    }
}
