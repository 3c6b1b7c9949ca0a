import Automation
import AutomationGraph
import HomeTypes
import Testing

@Suite struct ExpressionTests {
    private let a = GraphExpression.field("a", of: .reference("n"))
    private let b = GraphExpression.field("b", of: .reference("n"))

    private func verdict(_ expression: GraphExpression, _ values: [RuntimeValue?] = []) throws -> Verdict {
        try ExpressionProgram(expression).evaluate(values)
    }

    private func compare(
        _ first: JSONObject.Value, _ operation: GraphOperator, _ second: JSONObject.Value
    ) throws -> Verdict {
        try verdict(.operation(operation, [.constant(first), .constant(second)]))
    }

    private func between(
        _ value: JSONObject.Value, _ low: JSONObject.Value, _ high: JSONObject.Value
    ) throws -> Verdict {
        try verdict(.operation(.between, [.constant(value), .constant(low), .constant(high)]))
    }

    private func time(_ hours: Int64, _ minutes: Int64, _ seconds: Int64? = nil, _ nanos: Int64? = nil)
        -> JSONObject.Value
    {
        let parts = ["hours": hours, "minutes": minutes, "seconds": seconds, "nanos": nanos]
        return .object(parts.compactMapValues { $0.map { .integer($0) } })
    }

    private func date(_ year: Int64?, _ month: Int64?, _ day: Int64?) -> JSONObject.Value {
        .object(["year": year, "month": month, "day": day].compactMapValues { $0.map { .integer($0) } })
    }

    /// The verdicts of the six comparisons for a value that is less, equal or greater.
    private static let table: [(GraphOperator, less: Bool, equal: Bool, greater: Bool)] = [
        (.equals, false, true, false), (.notEquals, true, false, true), (.lessThan, true, false, false),
        (.lessThanOrEquals, true, true, false), (.greaterThan, false, false, true),
        (.greaterThanOrEquals, false, true, true),
    ]

    /// Checks all comparisons of three values that are in order.
    private func expectOrder(_ low: JSONObject.Value, _ middle: JSONObject.Value, _ high: JSONObject.Value) throws {
        for (operation, less, equal, greater) in Self.table {
            #expect(try compare(low, operation, middle) == (less ? .holds : .fails), "\(low) \(operation) \(middle)")
            #expect(try compare(middle, operation, middle) == (equal ? .holds : .fails), "\(middle) \(operation)")
            #expect(try compare(high, operation, middle) == (greater ? .holds : .fails), "\(high) \(operation)")
        }
    }

    @Test func `every kind of value that has an order is compared by it`() throws {
        try expectOrder(.integer(-3), .integer(2), .integer(1555))
        try expectOrder(.number(-0.5), .number(0), .number(0.25))
        try expectOrder(.integer(.max), .large(UInt64(Int64.max) + 1), .large(.max))
        try expectOrder(.integer(1), .integer(.max), .large(.max))
        try expectOrder(.integer(2), .number(2.5), .integer(3))
        try expectOrder(.number(1.5), .integer(2), .number(2.5))
        try expectOrder(.number(-1e30), .integer(.min), .number(1e30))
        try expectOrder(.number(1e19), .large(.max), .number(1e20))
        try expectOrder(.text("A"), .text("a"), .text("ab"))
        try expectOrder(time(7, 59, 59, 999_999_999), time(8, 0), time(8, 0, 0, 1))
        try expectOrder(time(0, 0), time(12, 30, 1), time(24, 0))
        try expectOrder(date(2025, 12, 31), date(2026, 1, 1), date(2026, 1, 2))
        try expectOrder(date(2025, 12, nil), date(2026, 1, nil), date(2026, 2, nil))
        try expectOrder(date(nil, 2, 28), date(nil, 2, 29), date(nil, 3, 1))
    }

    @Test func `large integers are compared with doubles without rounding`() throws {
        // 2^53 + 1 has no double.
        #expect(try compare(.integer(9_007_199_254_740_993), .equals, .number(9_007_199_254_740_992)) == .fails)
        #expect(try compare(.integer(9_007_199_254_740_993), .greaterThan, .number(9_007_199_254_740_992)) == .holds)
        #expect(try compare(.integer(5), .equals, .number(5)) == .holds)
        #expect(try compare(.number(5), .equals, .integer(5)) == .holds)
        #expect(try compare(.large(7), .equals, .integer(7)) == .holds)
        #expect(try compare(.large(.max), .greaterThan, .number(-0.5)) == .holds)
    }

    @Test func `truth values, lists and records are equal or not, and have no order`() throws {
        #expect(try compare(.bool(true), .equals, .bool(true)) == .holds)
        #expect(try compare(.bool(true), .notEquals, .bool(false)) == .holds)
        #expect(try compare(.bool(true), .greaterThan, .bool(false)) == .unknown(.operands))
        #expect(try compare(.list([.integer(1)]), .equals, .list([.integer(1)])) == .holds)
        #expect(try compare(.list([.integer(1)]), .equals, .list([.integer(2)])) == .fails)
        #expect(try compare(.object(["x": .integer(1)]), .equals, .object(["x": .integer(1)])) == .holds)
        #expect(try compare(.object(["x": .integer(1)]), .notEquals, .object(["x": .integer(2)])) == .holds)
        #expect(try compare(.list([]), .lessThan, .list([.integer(1)])) == .unknown(.operands))
    }

    @Test func `values of different kinds make a comparison neither true nor false`() throws {
        for operation in [GraphOperator.equals, .notEquals, .lessThan, .contains] {
            #expect(try compare(.text("1"), operation, .integer(1)) == .unknown(.operands), "\(operation)")
            #expect(try compare(.bool(true), operation, .integer(1)) == .unknown(.operands), "\(operation)")
        }
        #expect(try compare(date(2026, nil, nil), .equals, date(2026, 1, nil)) == .unknown(.operands))
        #expect(try compare(time(8, 0), .lessThan, date(2026, 1, 1)) == .unknown(.operands))
        #expect(try between(.integer(1), .text("0"), .integer(2)) == .unknown(.operands))
        #expect(try between(.integer(1), .integer(0), .text("2")) == .unknown(.operands))
        #expect(try verdict(.operation(.not, [.constant(.integer(1))])) == .unknown(.operands))
        #expect(try verdict(.constant(.text("on"))) == .unknown(.operands))
        #expect(try verdict(.constant(.bool(true))) == .holds)
    }

    @Test func `a range includes both of its ends`() throws {
        for value in [2, 3, 4] as [Int64] {
            #expect(try between(.integer(value), .integer(2), .integer(4)) == .holds)
        }
        #expect(try between(.integer(1), .integer(2), .integer(4)) == .fails)
        #expect(try between(.integer(5), .integer(2), .integer(4)) == .fails)
        for value in 1...5 as ClosedRange<Int64> {
            #expect(try between(.integer(value), .integer(4), .integer(2)) == .fails)
        }
        #expect(try between(.text("m"), .text("a"), .text("z")) == .holds)
        #expect(try between(.text("m"), .text("z"), .text("a")) == .fails)
        #expect(try between(.number(2.5), .integer(2), .number(2.5)) == .holds)
    }

    @Test func `times of day go through midnight`() throws {
        for (value, isInside) in [
            (time(22, 0), true), (time(23, 59, 59), true), (time(0, 0), true), (time(6, 0), true),
            (time(6, 0, 0, 1), false), (time(21, 59, 59), false), (time(12, 0), false),
        ] {
            #expect(try between(value, time(22, 0), time(6, 0)) == (isInside ? .holds : .fails), "\(value)")
        }
        #expect(try between(time(12, 0), time(6, 0), time(22, 0)) == .holds)
        #expect(try between(time(23, 0), time(6, 0), time(22, 0)) == .fails)
        // Both ends are the same minute: only that.
        #expect(try between(time(8, 0), time(8, 0), time(8, 0)) == .holds)
        #expect(try between(time(9, 0), time(8, 0), time(8, 0)) == .fails)
    }

    @Test func `dates are in ranges of days, of months, and of days of the year`() throws {
        let day = date(2026, 11, 23)
        #expect(try between(day, date(2026, 11, 23), date(2026, 12, 24)) == .holds)
        #expect(try between(day, date(2026, 11, 24), date(2026, 12, 24)) == .fails)
        #expect(try between(day, date(2025, 12, nil), date(2026, 11, nil)) == .holds)
        #expect(try between(day, date(2026, 12, nil), date(2027, 1, nil)) == .fails)
        #expect(try between(day, date(nil, 11, 1), date(nil, 12, 24)) == .holds)
        // Through the end of the year.
        #expect(try between(day, date(nil, 11, 1), date(nil, 2, 28)) == .holds)
        #expect(try between(date(2027, 2, 28), date(nil, 11, 1), date(nil, 2, 28)) == .holds)
        #expect(try between(date(2027, 3, 1), date(nil, 11, 1), date(nil, 2, 28)) == .fails)
        // A year does not come again.
        #expect(try between(day, date(2027, 1, 1), date(2026, 1, 1)) == .fails)
        #expect(try between(date(2027, 6, 1), date(2027, 1, 1), date(2026, 1, 1)) == .fails)
        #expect(try compare(day, .equals, date(nil, 11, 23)) == .holds)
        #expect(try compare(day, .equals, date(2026, nil, nil)) == .holds)
    }

    @Test func `lists, texts and bitmaps contain their parts`() throws {
        let list = JSONObject.Value.list([.text("a"), .integer(3)])
        #expect(try compare(list, .contains, .text("a")) == .holds)
        #expect(try compare(list, .contains, .number(3)) == .holds)
        #expect(try compare(list, .contains, .text("b")) == .fails)
        #expect(try compare(.list([]), .contains, .text("b")) == .fails)
        #expect(try compare(.text("front door"), .contains, .text("door")) == .holds)
        #expect(try compare(.text("a door"), .contains, .text(" ")) == .holds)
        #expect(try compare(.text("front door"), .contains, .text("")) == .holds)
        #expect(try compare(.text("doo"), .contains, .text("door")) == .fails)
        #expect(try compare(.text("dodoor"), .contains, .text("door")) == .holds)
        #expect(try compare(.integer(0b101), .contains, .integer(0b100)) == .holds)
        #expect(try compare(.integer(0b101), .contains, .integer(0b110)) == .fails)
    }

    @Test func `and, or and not decide as soon as one operand does`() throws {
        let values: [(RuntimeValue?, Character)] = [(.bool(true), "t"), (.bool(false), "f"), (nil, "u")]
        var and = ""
        var or = ""
        func letter(_ verdict: Verdict) -> String {
            switch verdict {
            case .holds: "t"
            case .fails: "f"
            case .unknown: "u"
            }
        }
        for (first, _) in values {
            for (second, _) in values {
                and += letter(try verdict(.operation(.and, [a, b]), [first, second]))
                or += letter(try verdict(.operation(.or, [a, b]), [first, second]))
            }
        }
        // Rows and columns: true, false, unknown (Kleene's logic).
        #expect(and == "tfu" + "fff" + "ufu")
        #expect(or == "ttt" + "tfu" + "tuu")
        #expect(try verdict(.operation(.not, [a]), [.bool(true)]) == .fails)
        #expect(try verdict(.operation(.not, [a]), [.bool(false)]) == .holds)
        #expect(try verdict(.operation(.not, [a]), [nil]) == .unknown(.slot(0)))
        #expect(try verdict(.operation(.and, [a, a, b]), [.bool(true), .bool(false)]) == .fails)
        #expect(try verdict(.operation(.or, [a, a, b]), [.bool(false), .bool(true)]) == .holds)
    }

    @Test func `the first value that is missing is named`() throws {
        let warm = GraphExpression.operation(.greaterThan, [a, .constant(.integer(20))])
        let lit = GraphExpression.operation(.equals, [b, .constant(.bool(true))])
        let program = try ExpressionProgram(.operation(.and, [warm, lit]))
        #expect(program.slots == [.init(reference: "n", field: "a"), .init(reference: "n", field: "b")])
        #expect(program.evaluate([.integer(21), .bool(true)]) == .holds)
        #expect(program.evaluate([nil, nil]) == .unknown(.slot(0)))
        #expect(program.evaluate([.integer(21), nil]) == .unknown(.slot(1)))
        #expect(program.evaluate([.integer(21)]) == .unknown(.slot(1)))
        #expect(program.evaluate([.integer(19), nil]) == .fails)
        #expect(program.name(of: .slot(1)) == "n.b" && program.name(of: .slot(9)) == "an attribute")
        // The values of a run are in an order of their own.
        let all: [RuntimeValue?] = [.bool(true), nil, .integer(21)]
        #expect(program.evaluate(all, at: [2, 0]) == .holds)
        #expect(program.evaluate(all, at: [2, 1]) == .unknown(.slot(1)))
        #expect(program.evaluate(all, at: [2, 9]) == .unknown(.slot(1)))
        #expect(program.evaluate(all, at: []) == .unknown(.slot(0)))
        #expect(try ExpressionProgram(.operation(.or, [warm, warm])).slots.count == 1)
        #expect(try verdict(.operation(.equals, [.constant(.integer(1)), a]), [nil]) == .unknown(.slot(0)))
        #expect(
            try verdict(.operation(.between, [.constant(.integer(1)), .constant(.integer(0)), a]), [nil])
                == .unknown(.slot(0)))
    }

    @Test func `fields and items are selected`() throws {
        let list = RuntimeValue.list([.record(["level": .integer(7)]), .record([:])])
        func level(_ index: GraphExpression) -> GraphExpression {
            .operation(.equals, [.field("level", of: .item(index, of: a)), .constant(.integer(7))])
        }
        #expect(try verdict(level(.constant(.integer(0))), [list]) == .holds)
        #expect(try verdict(level(.constant(.integer(1))), [list]) == .unknown(.field))
        #expect(try verdict(level(.constant(.integer(2))), [list]) == .unknown(.item))
        #expect(try verdict(level(.constant(.integer(-1))), [list]) == .unknown(.item))
        #expect(try verdict(level(.constant(.text("0"))), [list]) == .unknown(.operands))
        #expect(try verdict(level(b), [list, .integer(0)]) == .unknown(.operands))
        #expect(try verdict(level(b), [.integer(0), list]) == .holds)
        #expect(try verdict(level(.constant(.integer(0))), [nil]) == .unknown(.slot(0)))
        #expect(try verdict(level(b), [nil, list]) == .unknown(.slot(0)))
        #expect(try verdict(.field("level", of: .constant(.integer(1)))) == .unknown(.operands))
        for (field, value) in [("hours", 22), ("minutes", 5), ("seconds", 6), ("nanos", 7)] as [(String, Int64)] {
            let part = GraphExpression.field(field, of: .constant(time(22, 5, 6, 7)))
            #expect(try verdict(.operation(.equals, [part, .constant(.integer(value))])) == .holds, "\(field)")
        }
        for (field, value) in [("year", 2026), ("month", 11), ("day", 23)] as [(String, Int64)] {
            let part = GraphExpression.field(field, of: .constant(date(2026, 11, 23)))
            #expect(try verdict(.operation(.equals, [part, .constant(.integer(value))])) == .holds, "\(field)")
        }
        #expect(try verdict(.field("day", of: .constant(date(2026, 11, nil)))) == .unknown(.field))
        #expect(try verdict(.field("era", of: .constant(time(1, 1)))) == .unknown(.field))
    }

    @Test func `what has the members of a time or date but not their values is a record`() {
        #expect(RuntimeValue(time(25, 0)) == .record(["hours": .integer(25), "minutes": .integer(0)]))
        #expect(RuntimeValue(time(8, 60)) == .record(["hours": .integer(8), "minutes": .integer(60)]))
        // A day ends at 24:00.
        #expect(RuntimeValue(time(24, 0, 0, 0)) == .time(86_400_000_000_000))
        #expect(RuntimeValue(time(24, 1)) == .record(["hours": .integer(24), "minutes": .integer(1)]))
        for late in [time(24, 59), time(24, 0, 1), time(24, 0, 0, 1)] {
            if case .time = RuntimeValue(late) { Issue.record("\(late) is later than 24:00") }
        }
        #expect(RuntimeValue(.object(["hours": .integer(8)])) == .record(["hours": .integer(8)]))
        #expect(RuntimeValue(.object(["year": .text("2026")])) == .record(["year": .text("2026")]))
        #expect(RuntimeValue(.object([:])) == .record([:]))
        #expect(RuntimeValue(.null) == nil)
        #expect(RuntimeValue(.list([.null])) == nil)
    }

    @Test func `expressions that cannot be evaluated are refused`() {
        func code(_ expression: GraphExpression) -> HomeError.Code? {
            do throws(HomeError) {
                _ = try ExpressionProgram(expression)
                return nil
            } catch { return error.code }
        }
        #expect(code(.reference("n")) == .invalidArgument)
        #expect(code(.constant(.null)) == .invalidArgument)
        #expect(code(.operation(.not, [])) == .invalidArgument)
        #expect(code(.operation(.between, [a, b])) == .invalidArgument)
        #expect(code(.operation(.and, [a])) == .invalidArgument)
        #expect(code(.operation(.equals, [a, b])) == nil)
    }
}
