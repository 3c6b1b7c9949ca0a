import AutomationGraph
import HomeTypes

/// A value that a condition computes, as app code reads it.
public protocol AutomationExpression: Sendable, Hashable {
    /// The expression in the form that the gateway keeps.
    var graphExpression: GraphExpression { get }
}

/// An operator with one operand (Home APIs, `UnaryExpression`).
public protocol UnaryExpression: AutomationExpression {}

/// An operator with two operands (Home APIs, `BinaryExpression`).
public protocol BinaryExpression: AutomationExpression {}

/// An operator with three operands (Home APIs, `TernaryExpression`).
public protocol TernaryExpression: AutomationExpression {}

extension AutomationExpression {
    fileprivate func operand(_ index: Int) -> any AutomationExpression {
        let operands = graphExpression.operands
        return operands.indices.contains(index)
            ? operands[index].view : UnknownExpression(graphExpression: graphExpression)
    }
}

extension UnaryExpression {
    /// The operand.
    public var operand1: any AutomationExpression { operand(0) }
}

extension BinaryExpression {
    /// The first operand.
    public var operand1: any AutomationExpression { operand(0) }
    /// The second operand.
    public var operand2: any AutomationExpression { operand(1) }
}

extension TernaryExpression {
    /// The first operand.
    public var operand1: any AutomationExpression { operand(0) }
    /// The second operand.
    public var operand2: any AutomationExpression { operand(1) }
    /// The third operand.
    public var operand3: any AutomationExpression { operand(2) }
}

/// Whether both operands are equal.
public struct Equals: BinaryExpression {
    public let graphExpression: GraphExpression
}

/// Whether the operands differ.
public struct NotEquals: BinaryExpression {
    public let graphExpression: GraphExpression
}

/// Whether the first operand is greater than the second.
public struct GreaterThan: BinaryExpression {
    public let graphExpression: GraphExpression
}

/// Whether the first operand is at least the second.
public struct GreaterThanOrEquals: BinaryExpression {
    public let graphExpression: GraphExpression
}

/// Whether the first operand is less than the second.
public struct LessThan: BinaryExpression {
    public let graphExpression: GraphExpression
}

/// Whether the first operand is at most the second.
public struct LessThanOrEquals: BinaryExpression {
    public let graphExpression: GraphExpression
}

/// Whether the first operand contains the second.
public struct Contains: BinaryExpression {
    public let graphExpression: GraphExpression
}

/// Whether both operands are true.
public struct And: BinaryExpression {
    public let graphExpression: GraphExpression
}

/// Whether one of the operands is true.
public struct Or: BinaryExpression {
    public let graphExpression: GraphExpression
}

/// Whether the operand is false.
public struct Not: UnaryExpression {
    public let graphExpression: GraphExpression
}

/// Whether the first operand is at least the second and at most the third.
public struct Between: TernaryExpression {
    public let graphExpression: GraphExpression
}

/// A value that is known beforehand (Home APIs, `Constant`).
public struct Constant: AutomationExpression {
    /// The value.
    public let value: JSONObject.Value
    public var graphExpression: GraphExpression { .constant(value) }
}

/// What a starter or state reader has read (Home APIs, `Reference`).
public struct Reference: AutomationExpression {
    /// The name of the node in its graph.
    public let name: String
    public var graphExpression: GraphExpression { .reference(name) }
}

/// A field of a value, for example an attribute of a trait (Home APIs, `FieldSelect`).
public struct FieldSelect: AutomationExpression {
    public let graphExpression: GraphExpression
    /// The field's name.
    public let selected: String
    /// The value.
    public var from: any AutomationExpression { operand(0) }
}

/// An item of a list (Home APIs, `ListGet`).
public struct ListGet: AutomationExpression {
    public let graphExpression: GraphExpression
    /// The item's number, from 0.
    public var index: any AutomationExpression { operand(0) }
    /// The list.
    public var listExpression: any AutomationExpression { operand(1) }
}

/// An expression that this version of the library does not know.
public struct UnknownExpression: AutomationExpression {
    public let graphExpression: GraphExpression
}

extension GraphExpression {
    /// The expression as app code reads it.
    var view: any AutomationExpression {
        switch self {
        case .constant(let value): Constant(value: value)
        case .reference(let name): Reference(name: name)
        case .field(let name, of: _): FieldSelect(graphExpression: self, selected: name)
        case .item: ListGet(graphExpression: self)
        case .unknown: UnknownExpression(graphExpression: self)
        // A chain of `and` or `or` has one node in the graph and is read as nested pairs.
        case .operation(let operation, let operands) where operands.count > 2 && operation != .between:
            operation.view(
                .operation(operation, [.operation(operation, operands.dropLast()), operands[operands.count - 1]]))
        case .operation(let operation, _): operation.view(self)
        }
    }
}

extension GraphOperator {
    fileprivate func view(_ expression: GraphExpression) -> any AutomationExpression {
        switch self {
        case .equals: Equals(graphExpression: expression)
        case .notEquals: NotEquals(graphExpression: expression)
        case .greaterThan: GreaterThan(graphExpression: expression)
        case .greaterThanOrEquals: GreaterThanOrEquals(graphExpression: expression)
        case .lessThan: LessThan(graphExpression: expression)
        case .lessThanOrEquals: LessThanOrEquals(graphExpression: expression)
        case .contains: Contains(graphExpression: expression)
        case .and: And(graphExpression: expression)
        case .or: Or(graphExpression: expression)
        case .between: Between(graphExpression: expression)
        case .not: Not(graphExpression: expression)
        }
    }
}
