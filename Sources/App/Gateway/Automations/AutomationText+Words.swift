import AutomationGraph
import HomeTypes

extension AutomationText.Writer {
    /// An action in words.
    func words(_ action: GraphAction) -> String {
        let words = wordsAtOnce(action)
        guard let deferral = action.deferral else { return words }
        return
            "\(words), for which it waits up to \(Self.duration(deferral)) while \(name(action.target.entity)) is offline"
    }

    private func wordsAtOnce(_ action: GraphAction) -> String {
        let entity = name(action.target.entity)
        switch action.behaviour {
        case .command("on", let values) where values.isEmpty: return "turn \(entity) on"
        case .command("off", let values) where values.isEmpty: return "turn \(entity) off"
        case .command("toggle", let values) where values.isEmpty: return "turn \(entity) on or off"
        case .command(let command, let parameters):
            let values = parameters.sorted { $0.key < $1.key }
                .map { "\(Self.spaced($0.key)) \(Self.words($0.value))" }
            let with = values.isEmpty ? "" : " with " + values.joined(separator: ", ")
            return "send “\(Self.spaced(command))” to \(entity)\(with)"
        case .update(let attributes):
            let values = attributes.sorted { $0.key < $1.key }
                .map { "\(Self.spaced($0.key)) to \(Self.words($0.value))" }
            return "set \(values.joined(separator: " and ")) of \(entity)"
        }
    }

    /// An expression in words.
    func words(_ expression: GraphExpression) -> String {
        switch expression {
        case .constant(let value): return Self.words(value)
        case .reference(let id):
            guard let source = sources[id] else { return "something unknown" }
            return "\(Self.spaced(source.trait)) of \(name(source.entity))"
        case .field(let field, .reference(let id)):
            guard let source = sources[id] else { return Self.spaced(field) }
            return "\(Self.spaced(field)) of \(name(source.entity))"
        case .field(let field, let value): return "\(Self.spaced(field)) of \(words(value))"
        case .item(let index, let list): return "item \(words(index)) of \(words(list))"
        case .unknown: return "something holds that comes from a later version"
        case .operation(let operation, let operands): return words(operation, operands.map(nested))
        }
    }

    /// An operand; one with `and` or `or` is in brackets.
    private func nested(_ expression: GraphExpression) -> String {
        if case .operation(.and, _) = expression { return "(\(words(expression)))" }
        if case .operation(.or, _) = expression { return "(\(words(expression)))" }
        return words(expression)
    }

    private func words(_ operation: GraphOperator, _ operands: [String]) -> String {
        func operand(_ index: Int) -> String { operands.indices.contains(index) ? operands[index] : "nothing" }
        func infix(_ word: String) -> String { "\(operand(0)) \(word) \(operand(1))" }
        switch operation {
        case .equals: return infix("is")
        case .notEquals: return infix("is not")
        case .greaterThan: return infix("is more than")
        case .greaterThanOrEquals: return infix("is at least")
        case .lessThan: return infix("is less than")
        case .lessThanOrEquals: return infix("is at most")
        case .contains: return infix("contains")
        case .between: return "\(operand(0)) is between \(operand(1)) and \(operand(2))"
        case .and: return operands.joined(separator: " and ")
        case .or: return operands.joined(separator: " or ")
        case .not: return "it is not true that \(operand(0))"
        }
    }

    /// A value in words. A text of any length is cut.
    static func words(_ value: JSONObject.Value) -> String {
        switch value {
        case .null: return "nothing"
        case .bool(let flag): return flag ? "true" : "false"
        case .integer(let number): return "\(number)"
        case .large(let number): return "\(number)"
        case .number(let number): return "\(number)"
        case .text(let text): return spaced(String(text.prefix(60)))
        case .list(let items): return items.prefix(8).map { words($0) }.joined(separator: ", ")
        case .object(let members):
            if case .integer(let hours)? = members["hours"], case .integer(let minutes)? = members["minutes"] {
                return "\(hours):\(minutes < 10 ? "0" : "")\(minutes)"
            }
            return members.sorted { $0.key < $1.key }.prefix(8)
                .map { "\(spaced($0.key)) \(words($0.value))" }.joined(separator: ", ")
        }
    }

    /// A duration in words, for example `1 h 5 min`.
    static func duration(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        guard seconds > 0, duration.components.attoseconds == 0 else {
            return "\(Double(milliseconds(duration)) / 1_000) s"
        }
        let parts = [(seconds / 3_600, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")]
        return parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }

    private static func milliseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        return overflow ? .max : whole &+ attoseconds / 1_000_000_000_000_000
    }

    /// A name of the vocabulary as words: `doorbellPressed` as `doorbell pressed`. Other text stays as it is.
    static func spaced(_ name: String) -> String {
        guard !name.isEmpty, name.unicodeScalars.allSatisfy({ $0.isASCII && $0.properties.isAlphabetic }) else {
            return name
        }
        var result = ""
        for character in name {
            if character.isUppercase, !result.isEmpty, result.last?.isUppercase == false, result.last != " " {
                result += " "
            }
            result.append(character)
        }
        return result.lowercased()
    }
}
