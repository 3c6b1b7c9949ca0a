/// Reads the expressions of a template, by precedence.
struct TemplateExpressionParser {
    private static let maximumDepth = 24
    private static let filters: Set = [
        "float", "int", "round", "default", "d", "lower", "upper", "string", "trim", "replace", "abs", "multiply",
        "tojson", "to_json", "from_json", "bool", "is_defined", "title", "capitalize", "length", "count", "first",
        "last", "min", "max",
    ]
    private static let functions: Set = ["float", "int", "bool", "round", "iif", "min", "max"]
    private static let methods: Set = ["get", "lower", "upper", "strip", "split", "replace", "startswith", "endswith"]
    private static let tests: Set = ["defined", "undefined", "none", "number", "string", "mapping", "iterable"]

    private let tokens: [TemplateToken]
    private var position = 0
    private var depth = 0

    /// Reads the whole of `tokens` as one expression.
    static func expression(of tokens: [TemplateToken]) throws(TemplateError) -> TemplateExpression {
        var parser = TemplateExpressionParser(tokens: tokens)
        let result = try parser.conditional()
        guard parser.position == tokens.count else { throw .unsupported("\(Self.words(tokens[parser.position]))") }
        return result
    }

    private init(tokens: [TemplateToken]) { self.tokens = tokens }

    private static func words(_ token: TemplateToken) -> String {
        switch token {
        case .name(let name): name
        case .symbol(let symbol): symbol
        case .string(let text): "'\(text)'"
        case .number(let value): value.printed
        }
    }

    private var current: TemplateToken? { position < tokens.count ? tokens[position] : nil }

    private mutating func take(symbol: String) -> Bool {
        guard current == .symbol(symbol) else { return false }
        position += 1
        return true
    }

    private mutating func take(word: String) -> Bool {
        guard current == .name(word) else { return false }
        position += 1
        return true
    }

    private mutating func require(symbol: String) throws(TemplateError) {
        guard take(symbol: symbol) else { throw .malformed("\(symbol) is missing") }
    }

    private mutating func name() throws(TemplateError) -> String {
        guard case .name(let name) = current else { throw .malformed("a name is missing") }
        position += 1
        return name
    }

    private mutating func conditional() throws(TemplateError) -> TemplateExpression {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth else {
            throw .unsupported("expressions nested more than \(Self.maximumDepth) deep")
        }
        let value = try disjunction()
        guard take(word: "if") else { return value }
        let condition = try disjunction()
        let otherwise = take(word: "else") ? try conditional() : TemplateExpression.literal("")
        return .conditional(value, condition: condition, otherwise: otherwise)
    }

    private mutating func disjunction() throws(TemplateError) -> TemplateExpression {
        var left = try conjunction()
        while take(word: "or") { left = .binary(left, "or", try conjunction()) }
        return left
    }

    private mutating func conjunction() throws(TemplateError) -> TemplateExpression {
        var left = try negation()
        while take(word: "and") { left = .binary(left, "and", try negation()) }
        return left
    }

    private mutating func negation() throws(TemplateError) -> TemplateExpression {
        var isNegated = false
        while take(word: "not") { isNegated.toggle() }
        let value = try comparison()
        return isNegated ? .not(value) : value
    }

    private mutating func comparison() throws(TemplateError) -> TemplateExpression {
        var left = try sum()
        while true {
            if let symbol = ["==", "!=", "<=", ">=", "<", ">"].first(where: { current == .symbol($0) }) {
                position += 1
                left = .binary(left, symbol, try sum())
            } else if take(word: "in") {
                left = .binary(left, "in", try sum())
            } else if current == .name("not"), position + 1 < tokens.count, tokens[position + 1] == .name("in") {
                position += 2
                left = .not(.binary(left, "in", try sum()))
            } else {
                return left
            }
        }
    }

    private mutating func sum() throws(TemplateError) -> TemplateExpression {
        var left = try product()
        while let symbol = ["+", "-", "~"].first(where: { current == .symbol($0) }) {
            position += 1
            left = .binary(left, symbol, try product())
        }
        return left
    }

    private mutating func product() throws(TemplateError) -> TemplateExpression {
        var left = try unary()
        while let symbol = ["*", "//", "/", "%"].first(where: { current == .symbol($0) }) {
            position += 1
            left = .binary(left, symbol, try unary())
        }
        return left
    }

    private mutating func unary() throws(TemplateError) -> TemplateExpression {
        var isNegated = false
        while true {
            if take(symbol: "-") { isNegated.toggle() } else if !take(symbol: "+") { break }
        }
        let value = try postfix()
        return isNegated ? .negated(value) : value
    }

    private mutating func postfix() throws(TemplateError) -> TemplateExpression {
        var value = try primary()
        var links = 0
        while true {
            links += 1
            guard links <= 64 else { throw .unsupported("chains of more than 64 links") }
            if take(symbol: ".") {
                let member = try name()
                guard take(symbol: "(") else {
                    value = .member(value, .literal(.string(member)))
                    continue
                }
                guard Self.methods.contains(member) else { throw .unsupported("the method \(member)") }
                value = .method(value, member, try arguments())
            } else if take(symbol: "[") {
                value = .member(value, try conditional())
                try require(symbol: "]")
            } else if take(symbol: "|") {
                let filter = try name()
                guard Self.filters.contains(filter) else { throw .unsupported("the filter \(filter)") }
                value = .filter(value, filter, take(symbol: "(") ? try arguments() : [])
            } else if take(word: "is") {
                let isNegated = take(word: "not")
                let test = try name()
                guard Self.tests.contains(test) else { throw .unsupported("the test \(test)") }
                value = .test(value, test, isNegated: isNegated)
            } else {
                return value
            }
        }
    }

    /// The arguments of a call, after its opening bracket. The names of named arguments are left out: the supported
    /// calls have at most one optional argument that people name.
    private mutating func arguments() throws(TemplateError) -> [TemplateExpression] {
        var result: [TemplateExpression] = []
        while !take(symbol: ")") {
            if case .name = current, position + 1 < tokens.count, tokens[position + 1] == .symbol("=") { position += 2 }
            result.append(try conditional())
            if !take(symbol: ",") {
                try require(symbol: ")")
                break
            }
        }
        return result
    }

    private mutating func primary() throws(TemplateError) -> TemplateExpression {
        guard let token = current else { throw .malformed("a value is missing") }
        position += 1
        switch token {
        case .string(let text): return .literal(.string(text))
        case .number(let value): return .literal(value)
        case .name(let name):
            switch name {
            case "true", "True": return .literal(true)
            case "false", "False": return .literal(false)
            case "none", "None": return .literal(.null)
            default: break
            }
            guard take(symbol: "(") else { return .name(name) }
            guard Self.functions.contains(name) else { throw .unsupported("the function \(name)") }
            return .call(name, try arguments())
        case .symbol("("):
            let value = try conditional()
            try require(symbol: ")")
            return value
        case .symbol("["):
            var elements: [TemplateExpression] = []
            while !take(symbol: "]") {
                elements.append(try conditional())
                if !take(symbol: ",") {
                    try require(symbol: "]")
                    break
                }
            }
            return .list(elements)
        case .symbol("{"):
            var entries: [TemplateExpression.Entry] = []
            while !take(symbol: "}") {
                let key = try conditional()
                try require(symbol: ":")
                entries.append(.init(key: key, value: try conditional()))
                if !take(symbol: ",") {
                    try require(symbol: "}")
                    break
                }
            }
            return .dictionary(entries)
        case .symbol(let symbol): throw .malformed("\(symbol) cannot begin a value")
        }
    }
}
