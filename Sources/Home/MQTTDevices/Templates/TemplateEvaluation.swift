import Foundation

/// Computes the expressions of a template with the values of one message.
struct TemplateEvaluation {
    /// The longest text that a template may produce, in bytes. Lists and dictionaries may weigh as much.
    static let longestText = 16 << 10

    /// The names that the template can use; assignments add to them.
    var values: [String: JSONValue]

    /// The work that it may still do.
    let effort: TemplateEffort

    /// The texts of `parts`, one after another.
    mutating func render(_ parts: [TemplatePart]) throws(TemplateError) -> String {
        var result = ""
        for part in parts {
            switch part {
            case .text(let text): result += text
            case .output(let expression): result += try text(of: value(expression))
            case .assignment(let name, let expression): values[name] = try value(expression)
            case .conditional(let branches):
                for branch in branches {
                    if let condition = branch.condition, try !isTrue(condition) { continue }
                    result += try render(branch.parts)
                    break
                }
            }
            guard result.utf8.count <= Self.longestText else { throw .tooLong }
        }
        return result
    }

    /// The value of an expression.
    /// - Throws: `noValue` if the message does not contain it.
    func value(_ expression: TemplateExpression) throws(TemplateError) -> JSONValue {
        guard let value = try found(expression) else { throw .noValue(Self.words(expression)) }
        return value
    }

    /// A missing value is treated as false.
    private func isTrue(_ expression: TemplateExpression) throws(TemplateError) -> Bool {
        try found(expression)?.isTrue ?? false
    }

    /// The value of an expression; nil if something that it reads is missing.
    func found(_ expression: TemplateExpression) throws(TemplateError) -> JSONValue? {
        switch expression {
        case .literal(let value): return value
        case .name(let name): return values[name]
        case .member(let base, let key):
            guard let base = try found(base), let key = try found(key) else { return nil }
            return try member(key, of: base)
        case .list(let elements):
            var result: [JSONValue] = []
            for element in elements { result.append(try value(element)) }
            return try weighed(.array(result))
        case .dictionary(let entries):
            var result: [String: JSONValue] = [:]
            for entry in entries { result[try text(of: value(entry.key))] = try value(entry.value) }
            return try weighed(.object(result))
        case .filter(let base, let name, let arguments):
            return try filtered(
                found(base), by: name, arguments.map { argument throws(TemplateError) in try found(argument) })
        case .method(let base, let name, let arguments):
            guard let base = try found(base) else { return nil }
            return try method(name, of: base, arguments.map { argument throws(TemplateError) in try found(argument) })
        case .call(let name, let arguments): return try call(name, arguments)
        case .negated(let value):
            guard let number = try self.value(value).double else { throw .noValue("a number is expected after -") }
            return try Self.number(-number)
        case .not(let value): return .bool(try !isTrue(value))
        case .binary(let left, let symbol, let right): return try binary(left, symbol, right)
        case .test(let value, let test, let isNegated):
            return .bool(Self.test(try found(value), test) != isNegated)
        case .conditional(let value, let condition, let otherwise):
            return try found(isTrue(condition) ? value : otherwise)
        }
    }

    private func member(_ key: JSONValue, of base: JSONValue) throws(TemplateError) -> JSONValue? {
        switch (base, key) {
        case (.object(let members), _): return members[try text(of: key)]
        case (.array(let elements), .integer(let index)):
            let position = index < 0 ? elements.count + index : index
            return elements.indices.contains(position) ? elements[position] : nil
        default: return nil
        }
    }

    private func binary(
        _ left: TemplateExpression, _ symbol: String, _ right: TemplateExpression
    ) throws(TemplateError) -> JSONValue? {
        switch symbol {
        case "and":
            guard try isTrue(left) else { return false }
            return .bool(try isTrue(right))
        case "or":
            let first = try found(left)
            return first?.isTrue == true ? first : try found(right)
        case "==": return .bool(try Self.areEqual(found(left), found(right)))
        case "!=": return .bool(try !Self.areEqual(found(left), found(right)))
        case "in": return .bool(try contains(value(right), value(left)))
        case "~": return .string(try joined(text(of: value(left)), text(of: value(right))))
        default: return try arithmetic(value(left), symbol, value(right))
        }
    }

    /// Equal values are equal, and so are two forms of the same number.
    private static func areEqual(_ left: JSONValue?, _ right: JSONValue?) -> Bool {
        switch (left, right) {
        case (.integer(let first)?, .number(let second)?), (.number(let second)?, .integer(let first)?):
            Double(first) == second
        default: left == right
        }
    }

    private func contains(_ container: JSONValue, _ element: JSONValue) throws(TemplateError) -> Bool {
        switch container {
        case .array(let elements):
            try effort.spend(elements.count)
            return elements.contains { Self.areEqual($0, element) }
        case .object(let members): return members[try text(of: element)] != nil
        case .string(let text):
            guard let part = element.string else { return false }
            try effort.spend(text.utf8.count, times: part.utf8.count)
            return text.contains(part)
        default: return false
        }
    }

    /// Two texts as one.
    private func joined(_ first: String, _ second: String) throws(TemplateError) -> String {
        let length = first.utf8.count + second.utf8.count
        guard length <= Self.longestText else { throw .tooLong }
        try effort.spend(length)
        return first + second
    }

    private func arithmetic(
        _ left: JSONValue, _ symbol: String, _ right: JSONValue
    ) throws(TemplateError) -> JSONValue {
        if case .string(let first) = left, case .string(let second) = right {
            switch symbol {
            case "+": return .string(try joined(first, second))
            case "<": return .bool(first < second)
            case ">": return .bool(first > second)
            case "<=": return .bool(first <= second)
            case ">=": return .bool(first >= second)
            default: break
            }
        }
        guard !left.isText, !right.isText, let first = left.double, let second = right.double else {
            throw .noValue("\(symbol) expects two numbers")
        }
        switch symbol {
        case "+": return try Self.number(first + second)
        case "-": return try Self.number(first - second)
        case "*": return try Self.number(first * second)
        case "/": return try Self.number(first / second)
        case "//": return try Self.number((first / second).rounded(.down))
        case "%": return try Self.number(first - second * (first / second).rounded(.down))
        case "<": return .bool(first < second)
        case ">": return .bool(first > second)
        case "<=": return .bool(first <= second)
        case ">=": return .bool(first >= second)
        default: throw .unsupported("the operator \(symbol)")
        }
    }

    /// A number, as an integer if it does not have a fraction.
    static func number(_ value: Double) throws(TemplateError) -> JSONValue {
        guard value.isFinite else { throw .noValue("the result is not a number") }
        return Int(exactly: value).map(JSONValue.integer) ?? .number(value)
    }

    private static func test(_ value: JSONValue?, _ test: String) -> Bool {
        switch test {
        case "defined": value != nil
        case "undefined": value == nil
        case "none": value == .null
        case "string": value?.isText == true
        case "number": value.map { !$0.isText && $0.double != nil } ?? false
        case "mapping": value?.object != nil
        default: value?.array != nil || value?.object != nil || value?.isText == true
        }
    }

    private static func words(_ expression: TemplateExpression) -> String {
        switch expression {
        case .name(let name): name
        case .member(let base, .literal(let key)): "\(words(base)).\(key.printed)"
        case .filter(let base, _, _), .method(let base, _, _): words(base)
        default: "the message does not contain what the template reads"
        }
    }
}

extension JSONValue {
    /// Whether this is a string, even one that contains a number.
    var isText: Bool { string != nil }
}
