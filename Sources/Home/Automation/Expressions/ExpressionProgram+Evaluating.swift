import AutomationGraph

/// The outcome of a condition.
public enum Verdict: Sendable, Hashable {
    case holds
    case fails
    /// Neither, because a value is missing.
    case unknown(MissingValue)
}

/// Why an expression has no value.
public enum MissingValue: Sendable, Hashable {
    /// An attribute does not have a value now: its place among the program's slots.
    case slot(Int)
    /// A record does not have the field.
    case field
    /// A list has no item there.
    case item
    /// The operands do not fit the operator, for example a text and a number.
    case operands
}

extension ExpressionProgram {
    private enum Result {
        case value(RuntimeValue)
        case missing(MissingValue)

        init(_ value: Bool?) {
            self = value.map { .value(.bool($0)) } ?? .missing(.operands)
        }
    }

    /// The values that an evaluation sees.
    private struct Values {
        let all: [RuntimeValue?]
        /// Where each slot is among all values; nil if they are in the order of the slots.
        let places: [Int]?

        subscript(slot: Int) -> RuntimeValue? {
            let place = places.map { slot < $0.count ? $0[slot] : all.count } ?? slot
            return place < all.count ? all[place] : nil
        }
    }

    /// Evaluates the expression as a condition.
    /// - Parameters:
    ///   - values: the values of ``slots`` in their order; nil where one is unknown.
    ///   - places: where each slot is among the values, if they are in another order.
    public func evaluate(_ values: [RuntimeValue?], at places: [Int]? = nil) -> Verdict {
        verdict(steps.count - 1, Values(all: values, places: places))
    }

    /// The name of a missing value for people, for example `n1.onOff`.
    public func name(of missing: MissingValue) -> String {
        switch missing {
        case .slot(let number):
            slots.indices.contains(number) ? "\(slots[number].reference).\(slots[number].field)" : "an attribute"
        case .field: "a field of a record"
        case .item: "an item of a list"
        case .operands: "a comparison, because its operands do not fit each other"
        }
    }

    private func verdict(_ step: Int, _ values: Values) -> Verdict {
        switch result(step, values) {
        case .value(.bool(let value)): value ? .holds : .fails
        case .value: .unknown(.operands)
        case .missing(let missing): .unknown(missing)
        }
    }

    private func result(_ step: Int, _ values: Values) -> Result {
        switch steps[step] {
        case .constant(let value): return .value(value)
        case .slot(let number):
            guard let value = values[number] else { return .missing(.slot(number)) }
            return .value(value)
        case .field(let name, let record): return field(name, result(record, values))
        case .item(let index, let list): return item(result(index, values), of: result(list, values))
        case .compare(let operation, let first, let second):
            return with(first, second, values) { Result(Self.compare(operation, $0, $1)) }
        case .between(let value, let low, let high):
            return with(value, low, values) { value, low in
                switch result(high, values) {
                case .value(let high): Result(RuntimeValue.isBetween(value, low, high))
                case .missing(let missing): .missing(missing)
                }
            }
        case .contains(let whole, let part):
            return with(whole, part, values) { Result(RuntimeValue.contains($0, $1)) }
        case .not(let operand):
            switch verdict(operand, values) {
            case .holds: return .value(.bool(false))
            case .fails: return .value(.bool(true))
            case .unknown(let missing): return .missing(missing)
            }
        case .and(let range): return combine(range, values, decidedBy: false)
        case .or(let range): return combine(range, values, decidedBy: true)
        }
    }

    /// Kleene's `and` and `or`: one operand can decide, whatever values the unknown ones have.
    private func combine(_ range: Range<Int>, _ values: Values, decidedBy deciding: Bool) -> Result {
        var firstMissing: MissingValue?
        for operand in operands[range] {
            switch verdict(operand, values) {
            case .holds: if deciding { return .value(.bool(true)) }
            case .fails: if !deciding { return .value(.bool(false)) }
            case .unknown(let missing): firstMissing = firstMissing ?? missing
            }
        }
        return firstMissing.map { .missing($0) } ?? .value(.bool(!deciding))
    }

    private func with(
        _ first: Int, _ second: Int, _ values: Values, _ body: (RuntimeValue, RuntimeValue) -> Result
    ) -> Result {
        switch (result(first, values), result(second, values)) {
        case (.value(let first), .value(let second)): body(first, second)
        case (.missing(let missing), _), (_, .missing(let missing)): .missing(missing)
        }
    }

    private func field(_ name: String, _ record: Result) -> Result {
        switch record {
        case .value(.record(let members)): members[name].map { .value($0) } ?? .missing(.field)
        case .value(.date(let date)): part(name, of: date).map { .value(.integer(Int64($0))) } ?? .missing(.field)
        case .value(.time(let time)): part(name, of: time).map { .value(.integer($0)) } ?? .missing(.field)
        case .value: .missing(.operands)
        case .missing: record
        }
    }

    private func part(_ name: String, of date: RuntimeValue.PartialDate) -> Int32? {
        switch name {
        case "year": date.year
        case "month": date.month
        case "day": date.day
        default: nil
        }
    }

    private func part(_ name: String, of time: Int64) -> Int64? {
        let seconds = time / 1_000_000_000
        return switch name {
        case "hours": seconds / 3600
        case "minutes": seconds / 60 % 60
        case "seconds": seconds % 60
        case "nanos": time % 1_000_000_000
        default: nil
        }
    }

    private func item(_ index: Result, of list: Result) -> Result {
        switch (index, list) {
        case (.value(.integer(let index)), .value(.list(let items))):
            guard let index = Int(exactly: index), items.indices.contains(index) else { return .missing(.item) }
            return .value(items[index])
        case (.missing, _): return index
        case (_, .missing): return list
        default: return .missing(.operands)
        }
    }

    private static func compare(_ operation: GraphOperator, _ first: RuntimeValue, _ second: RuntimeValue) -> Bool? {
        switch operation {
        case .equals: RuntimeValue.isEqual(first, second)
        case .notEquals: RuntimeValue.isEqual(first, second).map { !$0 }
        case .greaterThan: RuntimeValue.order(first, second).map { $0 == .greater }
        case .greaterThanOrEquals: RuntimeValue.order(first, second).map { $0 != .less }
        case .lessThan: RuntimeValue.order(first, second).map { $0 == .less }
        case .lessThanOrEquals: RuntimeValue.order(first, second).map { $0 != .greater }
        case .between, .contains, .and, .or, .not: nil
        }
    }
}
