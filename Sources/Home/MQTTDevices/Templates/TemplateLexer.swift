/// A token of the language inside `{{ … }}` and `{% … %}`.
enum TemplateToken: Hashable {
    case name(String)
    case string(String)
    case number(JSONValue)
    case symbol(String)
}

/// Splits the inside of a template's braces into tokens.
struct TemplateLexer {
    private static let symbols = [
        "==", "!=", "<=", ">=", "//", "(", ")", "[", "]", "{", "}", ".", ",", ":", "|", "+", "-", "*", "/", "%", "~",
        "<", ">", "=",
    ]

    private let text: [Character]
    private var position = 0

    private init(_ text: Substring) { self.text = Array(text) }

    /// Cuts `text` into words.
    static func tokens(of text: Substring) throws(TemplateError) -> [TemplateToken] {
        var lexer = TemplateLexer(text)
        var result: [TemplateToken] = []
        while let token = try lexer.next() { result.append(token) }
        return result
    }

    private mutating func next() throws(TemplateError) -> TemplateToken? {
        while position < text.count, text[position].isWhitespace { position += 1 }
        guard position < text.count else { return nil }
        let first = text[position]
        if first == "'" || first == "\"" { return .string(try quoted(by: first)) }
        if first.isASCII, first.isNumber { return .number(try number()) }
        if Self.isNamePart(first) {
            let start = position
            while position < text.count, Self.isNamePart(text[position]) { position += 1 }
            return .name(String(text[start..<position]))
        }
        for symbol in Self.symbols where text[position...].starts(with: symbol) {
            position += symbol.count
            return .symbol(symbol)
        }
        throw .unsupported("the character \(first)")
    }

    private static func isNamePart(_ character: Character) -> Bool {
        character == "_" || character.isASCII && (character.isLetter || character.isNumber)
    }

    private mutating func quoted(by mark: Character) throws(TemplateError) -> String {
        var result = ""
        position += 1
        while position < text.count {
            let character = text[position]
            position += 1
            if character == mark { return result }
            guard character == "\\", position < text.count else {
                result.append(character)
                continue
            }
            switch text[position] {
            case "n": result.append("\n")
            case "t": result.append("\t")
            case let other: result.append(other)
            }
            position += 1
        }
        throw .malformed("a text has no closing quotation mark")
    }

    private mutating func number() throws(TemplateError) -> JSONValue {
        let start = position
        while position < text.count, text[position].isASCII, text[position].isNumber || text[position] == "." {
            position += 1
        }
        let digits = String(text[start..<position])
        if let value = Int(digits) { return .integer(value) }
        if let value = JSONValue.number(in: digits) { return .number(value) }
        throw .malformed("\(digits) is not a number")
    }
}
