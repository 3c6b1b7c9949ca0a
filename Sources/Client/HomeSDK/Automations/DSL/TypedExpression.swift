import AutomationGraph
import Foundation
import HomeTypes

/// A value that an automation computes while it runs: an attribute of a starter or state reader, or a comparison.
///
/// The type of its value decides which operators there are, so a temperature cannot be compared with a text.
public struct TypedExpression<Value: Sendable>: AutomationExpression {
    public let graphExpression: GraphExpression

    init(_ graphExpression: GraphExpression) { self.graphExpression = graphExpression }

    fileprivate func operation<Result>(
        _ operation: GraphOperator, _ operands: GraphExpression...
    ) -> TypedExpression<Result> {
        TypedExpression<Result>(.operation(operation, [graphExpression] + operands))
    }
}

/// A kind of value that has an order: numbers, texts, times of day and dates.
public protocol OrderedAutomationValue: Codable, Sendable {}

extension Int: OrderedAutomationValue {}
extension Int8: OrderedAutomationValue {}
extension Int16: OrderedAutomationValue {}
extension Int32: OrderedAutomationValue {}
extension Int64: OrderedAutomationValue {}
extension UInt8: OrderedAutomationValue {}
extension UInt16: OrderedAutomationValue {}
extension UInt32: OrderedAutomationValue {}
extension UInt64: OrderedAutomationValue {}
extension Float: OrderedAutomationValue {}
extension Double: OrderedAutomationValue {}
extension String: OrderedAutomationValue {}
extension Google.TimeTrait.TimeOfDay: OrderedAutomationValue {}
extension Google.TimeTrait.CalendarDate: OrderedAutomationValue {}

extension TypedExpression where Value: Encodable {
    /// Whether the values are equal.
    public func equals(_ value: Value) -> TypedExpression<Bool> {
        operation(.equals, .constant(.init(ofValue: value)))
    }
    /// Whether the values are equal.
    public func equals(_ value: TypedExpression<Value>) -> TypedExpression<Bool> {
        operation(.equals, value.graphExpression)
    }
    /// Whether the values differ.
    public func notEquals(_ value: Value) -> TypedExpression<Bool> {
        operation(.notEquals, .constant(.init(ofValue: value)))
    }
    /// Whether the values differ.
    public func notEquals(_ value: TypedExpression<Value>) -> TypedExpression<Bool> {
        operation(.notEquals, value.graphExpression)
    }
}

extension TypedExpression where Value: OrderedAutomationValue {
    /// Whether this is greater.
    public func greaterThan(_ value: Value) -> TypedExpression<Bool> {
        operation(.greaterThan, .constant(.init(ofValue: value)))
    }
    /// Whether this is greater.
    public func greaterThan(_ value: TypedExpression<Value>) -> TypedExpression<Bool> {
        operation(.greaterThan, value.graphExpression)
    }
    /// Whether this is greater or equal.
    public func greaterThanOrEquals(_ value: Value) -> TypedExpression<Bool> {
        operation(.greaterThanOrEquals, .constant(.init(ofValue: value)))
    }
    /// Whether this is greater or equal.
    public func greaterThanOrEquals(_ value: TypedExpression<Value>) -> TypedExpression<Bool> {
        operation(.greaterThanOrEquals, value.graphExpression)
    }
    /// Whether this is less.
    public func lessThan(_ value: Value) -> TypedExpression<Bool> {
        operation(.lessThan, .constant(.init(ofValue: value)))
    }
    /// Whether this is less.
    public func lessThan(_ value: TypedExpression<Value>) -> TypedExpression<Bool> {
        operation(.lessThan, value.graphExpression)
    }
    /// Whether this is less or equal.
    public func lessThanOrEquals(_ value: Value) -> TypedExpression<Bool> {
        operation(.lessThanOrEquals, .constant(.init(ofValue: value)))
    }
    /// Whether this is less or equal.
    public func lessThanOrEquals(_ value: TypedExpression<Value>) -> TypedExpression<Bool> {
        operation(.lessThanOrEquals, value.graphExpression)
    }
    /// Whether this is at least `low` and at most `high`. If `low` is after `high`, a range of times of day passes
    /// midnight, and a range of days passes the end of the year.
    public func between(_ low: Value, _ high: Value) -> TypedExpression<Bool> {
        operation(.between, .constant(.init(ofValue: low)), .constant(.init(ofValue: high)))
    }
    /// Whether this is at least `low` and at most `high`, for example from sunset to sunrise.
    public func between(_ low: TypedExpression<Value>, _ high: TypedExpression<Value>) -> TypedExpression<Bool> {
        operation(.between, low.graphExpression, high.graphExpression)
    }
    /// Whether this is at least `low` and at most `high`.
    public func between(_ low: Value, _ high: TypedExpression<Value>) -> TypedExpression<Bool> {
        operation(.between, .constant(.init(ofValue: low)), high.graphExpression)
    }
    /// Whether this is at least `low` and at most `high`.
    public func between(_ low: TypedExpression<Value>, _ high: Value) -> TypedExpression<Bool> {
        operation(.between, low.graphExpression, .constant(.init(ofValue: high)))
    }
}

extension TypedExpression where Value == Bool {
    /// Whether both are true.
    public func and(_ other: TypedExpression<Bool>) -> TypedExpression<Bool> { joined(.and, other) }
    /// Whether one of them is true.
    public func or(_ other: TypedExpression<Bool>) -> TypedExpression<Bool> { joined(.or, other) }
    /// Whether this is false.
    public func not() -> TypedExpression<Bool> { operation(.not) }

    /// Joins a chain of the same operator into one operation, so that it does not nest.
    private func joined(_ joining: GraphOperator, _ other: TypedExpression<Bool>) -> TypedExpression<Bool> {
        guard case .operation(joining, let operands) = graphExpression, operands.count < joining.operandCount.upperBound
        else { return operation(joining, other.graphExpression) }
        return TypedExpression(.operation(joining, operands + [other.graphExpression]))
    }
}

extension TypedExpression where Value == String {
    /// Whether the text has a part.
    public func contains(_ part: String) -> TypedExpression<Bool> { operation(.contains, .constant(.text(part))) }
}

extension TypedExpression where Value: OptionSet, Value.RawValue == UInt32 {
    /// Whether all bits of a bitmap are set.
    public func contains(_ bits: Value) -> TypedExpression<Bool> {
        operation(.contains, .constant(.integer(Int64(bits.rawValue))))
    }
}

extension TypedExpression {
    /// Whether the list has an item.
    public func contains<Item: Encodable & Sendable>(_ item: Item) -> TypedExpression<Bool> where Value == [Item] {
        operation(.contains, .constant(.init(ofValue: item)))
    }

    /// An item of the list, from 0.
    public subscript<Item>(index: Int) -> TypedExpression<Item> where Value == [Item] {
        TypedExpression<Item>(.item(.constant(.integer(Int64(index))), of: graphExpression))
    }

    /// A field of the value, by its name in JSON.
    public func field<Field>(_ name: String, as type: Field.Type) -> TypedExpression<Field>
    where Value: VocabularyRecord {
        TypedExpression<Field>(.field(name, of: graphExpression))
    }
}

extension JSONObject.Value {
    /// A value as JSON. JSON does not have numbers that are not finite. A value that contains one becomes null, which
    /// validation refuses. JSON can represent everything else in the vocabulary's values.
    init(ofValue value: some Encodable) { self = (try? JSONObject.Value(encoding: value)) ?? .null }

    /// The members of a record as JSON.
    static func members(encoding record: some Encodable) -> [String: JSONObject.Value] {
        if case .object(let members) = JSONObject.Value(ofValue: record) { members } else { [:] }
    }
}
