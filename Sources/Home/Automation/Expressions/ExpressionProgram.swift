import AutomationGraph
import HomeTypes

/// An expression in a form that is evaluated without allocating memory.
///
/// The attributes that it names are numbered. The caller keeps their values in that order, so an evaluation does not
/// have to look anything up.
public struct ExpressionProgram: Sendable {
    /// An attribute or an event's field that an expression needs.
    public struct Slot: Sendable, Hashable {
        /// The starter or state reader that reads it.
        public var reference: String
        /// The attribute or field.
        public var field: String

        /// Names an attribute.
        public init(reference: String, field: String) {
            self.reference = reference
            self.field = field
        }
    }

    /// One operation. Numbers are places in `steps`; an operation comes after its operands.
    enum Step: Sendable {
        case constant(RuntimeValue)
        case slot(Int)
        case field(String, of: Int)
        case item(Int, of: Int)
        case compare(GraphOperator, Int, Int)
        case between(Int, low: Int, high: Int)
        case contains(Int, part: Int)
        case not(Int)
        /// A range of `operands`.
        case and(Range<Int>)
        case or(Range<Int>)
    }

    /// The attributes that the expression needs, in the order of their values.
    public let slots: [Slot]
    let steps: [Step]
    let operands: [Int]

    /// Compiles an expression.
    /// - Throws: `invalidArgument` for an expression that validation refuses.
    public init(_ expression: GraphExpression) throws(HomeError) {
        var compiler = Compiler()
        _ = try compiler.add(expression)
        slots = compiler.slots
        steps = compiler.steps
        operands = compiler.operands
    }
}

private struct Compiler {
    var slots: [ExpressionProgram.Slot] = []
    var steps: [ExpressionProgram.Step] = []
    var operands: [Int] = []

    private mutating func append(_ step: ExpressionProgram.Step) -> Int {
        steps.append(step)
        return steps.count - 1
    }

    mutating func add(_ expression: GraphExpression) throws(HomeError) -> Int {
        switch expression {
        case .constant(let constant):
            guard let value = RuntimeValue(constant) else {
                throw .invalidArgument("a constant is null; compare with a value")
            }
            return append(.constant(value))
        case .field(let field, of: .reference(let reference)):
            let slot = ExpressionProgram.Slot(reference: reference, field: field)
            if let number = slots.firstIndex(of: slot) { return append(.slot(number)) }
            slots.append(slot)
            return append(.slot(slots.count - 1))
        case .reference(let reference):
            throw .invalidArgument("the reference \(reference) is a whole trait; select one of its attributes")
        case .field(let field, of: let value): return append(.field(field, of: try add(value)))
        case .item(let index, of: let list):
            let index = try add(index)
            return append(.item(index, of: try add(list)))
        case .operation(let operation, let values):
            guard operation.operandCount.contains(values.count) else {
                throw .invalidArgument("\(operation.rawValue) does not take \(values.count) operands")
            }
            return try add(operation, values)
        case .unknown:
            throw .failedPrecondition("an expression comes from a later version; update the gateway")
        }
    }

    private mutating func add(_ operation: GraphOperator, _ values: [GraphExpression]) throws(HomeError) -> Int {
        var added: [Int] = []
        for value in values { added.append(try add(value)) }
        switch operation {
        case .equals, .notEquals, .greaterThan, .greaterThanOrEquals, .lessThan, .lessThanOrEquals:
            return append(.compare(operation, added[0], added[1]))
        case .between: return append(.between(added[0], low: added[1], high: added[2]))
        case .contains: return append(.contains(added[0], part: added[1]))
        case .not: return append(.not(added[0]))
        case .and, .or:
            let range = operands.count..<operands.count + added.count
            operands += added
            return append(operation == .and ? .and(range) : .or(range))
        }
    }
}
