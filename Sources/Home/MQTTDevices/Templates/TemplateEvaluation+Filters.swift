import Foundation

extension TemplateEvaluation {
    /// Applies a filter.
    func filtered(
        _ value: JSONValue?, by name: String, _ arguments: [JSONValue?]
    ) throws(TemplateError) -> JSONValue? {
        let argument = arguments.first ?? nil
        switch name {
        case "default", "d":
            let appliesToFalse = arguments.count > 1 && arguments[1]?.isTrue == true
            if let value, !appliesToFalse || value.isTrue { return value }
            return argument ?? ""
        case "is_defined": return value
        default: break
        }
        guard let value else { return nil }
        switch name {
        case "float":
            guard let number = value.double else { return try Self.fallback(argument, for: value) }
            return .number(number)
        case "int":
            guard let number = value.double, let whole = Int(exactly: number.rounded(.towardZero)) else {
                return try Self.fallback(argument, for: value)
            }
            return .integer(whole)
        case "round": return try rounded(value, digits: argument?.int ?? 0)
        case "abs":
            guard let number = value.double else { return try Self.refuse(value) }
            return try Self.number(abs(number))
        case "multiply":
            guard let number = value.double, let factor = argument?.double else { return try Self.refuse(value) }
            return try Self.number(number * factor)
        case "bool": return try truth(of: value, orElse: argument)
        case "lower": return .string(try limited(text(of: value).lowercased()))
        case "upper": return .string(try limited(text(of: value).uppercased()))
        case "title", "capitalize": return .string(try limited(text(of: value).capitalized))
        case "string": return .string(try text(of: value))
        case "trim": return .string(try text(of: value).trimmingCharacters(in: .whitespacesAndNewlines))
        case "replace": return try replaced(value, arguments)
        case "tojson", "to_json": return .string(try jsonText(of: value))
        case "from_json":
            guard let text = value.string else { return try Self.refuse(value) }
            return try parsed(text)
        case "length", "count":
            if let count = value.array?.count ?? value.object?.count { return .integer(count) }
            return .integer(try text(of: value).count)
        case "first": return value.array?.first ?? value.string?.first.map { .string(String($0)) }
        case "last": return value.array?.last ?? value.string?.last.map { .string(String($0)) }
        case "min": return try extreme(of: value.array ?? []) { $0 < $1 }
        case "max": return try extreme(of: value.array ?? []) { $0 > $1 }
        default: throw .unsupported("the filter \(name)")
        }
    }

    private static func refuse(_ value: JSONValue) throws(TemplateError) -> JSONValue {
        throw .noValue("\(value.printed.prefix(40)) is not a number")
    }

    private static func fallback(_ value: JSONValue?, for refused: JSONValue) throws(TemplateError) -> JSONValue {
        guard let value else { return try refuse(refused) }
        return value
    }

    private func rounded(_ value: JSONValue, digits: Int) throws(TemplateError) -> JSONValue {
        guard let number = value.double else { return try Self.refuse(value) }
        let factor = pow(10, Double(min(max(digits, -9), 9)))
        return try Self.number((number * factor).rounded() / factor)
    }

    private func truth(of value: JSONValue, orElse fallback: JSONValue?) throws(TemplateError) -> JSONValue {
        switch try text(of: value).lowercased() {
        case "true", "yes", "on", "enable", "1": true
        case "false", "no", "off", "disable", "0": false
        default: try Self.fallback(fallback, for: value)
        }
    }

    private func replaced(_ value: JSONValue, _ arguments: [JSONValue?]) throws(TemplateError) -> JSONValue {
        guard arguments.count >= 2, let first = arguments[0], let second = arguments[1] else {
            throw .malformed("replace needs two texts")
        }
        let whole = try text(of: value)
        let old = try text(of: first)
        let new = try text(of: second)
        guard !old.isEmpty else { throw .malformed("replace needs two texts") }
        // Otherwise the result could be as long as the product of two long texts' lengths.
        guard whole.utf8.count <= 1_024, new.utf8.count <= 16 else { throw .tooLong }
        try effort.spend(whole.utf8.count, times: old.utf8.count)
        return .string(try limited(whole.replacingOccurrences(of: old, with: new)))
    }

    private func extreme(
        of values: [JSONValue], _ isBetter: (Double, Double) -> Bool
    ) throws(TemplateError) -> JSONValue? {
        let numbers = values.compactMap(\.double)
        guard numbers.count == values.count, var best = numbers.first else { return nil }
        for number in numbers where isBetter(number, best) { best = number }
        return try Self.number(best)
    }

    /// Calls a method of a value.
    func method(_ name: String, of value: JSONValue, _ arguments: [JSONValue?]) throws(TemplateError) -> JSONValue? {
        let argument = arguments.first ?? nil
        switch name {
        case "get":
            guard let members = value.object, let argument else { return nil }
            return members[try text(of: argument)] ?? (arguments.count > 1 ? arguments[1] : .null)
        case "split":
            guard let text = value.string else { return nil }
            let separator = argument?.string ?? " "
            guard !separator.isEmpty else { throw .malformed("split needs a text") }
            let whole = try limited(text)
            try effort.spend(whole.utf8.count, times: separator.utf8.count)
            return .array(whole.components(separatedBy: separator).prefix(64).map(JSONValue.string))
        case "startswith": return .bool(argument?.string.map { value.string?.hasPrefix($0) == true } ?? false)
        case "endswith": return .bool(argument?.string.map { value.string?.hasSuffix($0) == true } ?? false)
        case "strip": return try filtered(value, by: "trim", [])
        default: return try filtered(value, by: name, arguments)
        }
    }

    /// Calls a function.
    func call(_ name: String, _ arguments: [TemplateExpression]) throws(TemplateError) -> JSONValue? {
        var values: [JSONValue?] = []
        for argument in arguments { values.append(try found(argument)) }
        switch name {
        case "iif":
            let isTrue = (values.first ?? nil)?.isTrue ?? false
            let position = isTrue ? 1 : 2
            return position < values.count ? values[position] : .bool(isTrue)
        case "min", "max":
            let list = values.count == 1 ? values[0]?.array ?? [] : values.compactMap { $0 }
            return try filtered(.array(list), by: name, [])
        default: return try filtered(values.first ?? nil, by: name, Array(values.dropFirst()))
        }
    }
}
