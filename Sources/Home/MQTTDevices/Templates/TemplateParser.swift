/// Splits a template into texts, outputs and statements.
struct TemplateParser {
    private enum Piece {
        case text(String)
        case output(Substring)
        case statement(Substring)
    }

    private static let maximumDepth = 8
    private var pieces: [Piece]
    private var position = 0

    /// Reads a template.
    static func parts(of template: String) throws(TemplateError) -> [TemplatePart] {
        var parser = TemplateParser(pieces: try pieces(of: template))
        let (parts, ending) = try parser.parts(depth: 0)
        if let ending { throw .malformed("\(ending) without if") }
        return parts
    }

    private init(pieces: [Piece]) { self.pieces = pieces }

    /// Splits at the braces. A minus next to a brace removes the blanks on its other side.
    private static func pieces(of template: String) throws(TemplateError) -> [Piece] {
        var result: [Piece] = []
        var rest = template[...]
        var trimsNext = false
        while !rest.isEmpty {
            let opening = firstOpening(in: rest)
            var text = String(rest[..<(opening ?? rest.endIndex)])
            if trimsNext { text = String(text.drop(while: \.isWhitespace)) }
            trimsNext = false
            guard let opening else {
                result.append(.text(text))
                break
            }
            let kind = rest[rest.index(after: opening)]
            let bodyStart = rest.index(opening, offsetBy: 2)
            guard let end = closing(of: kind, in: rest[bodyStart...]) else {
                throw .malformed("{\(kind) has no end")
            }
            var body = rest[bodyStart..<end]
            rest = rest[rest.index(end, offsetBy: 2)...]
            if body.hasPrefix("-") {
                body = body.dropFirst()
                while text.last?.isWhitespace == true { text.removeLast() }
            }
            if body.hasSuffix("-") {
                body = body.dropLast()
                trimsNext = true
            }
            if !text.isEmpty { result.append(.text(text)) }
            switch kind {
            case "{": result.append(.output(body))
            case "%": result.append(.statement(body))
            default: break
            }
        }
        return result
    }

    private static func firstOpening(in text: Substring) -> String.Index? {
        text.indices.first { index in
            guard text[index] == "{" else { return false }
            let next = text.index(after: index)
            return next < text.endIndex && "{%#".contains(text[next])
        }
    }

    /// Where the end of an output, statement or comment begins: not inside a text, and for an output not inside a
    /// dictionary.
    private static func closing(of kind: Character, in text: Substring) -> String.Index? {
        let last: Character = kind == "{" ? "}" : kind
        var mark: Character?
        var isEscaped = false
        var open = 0
        for index in text.indices {
            let character = text[index]
            if let current = mark, kind != "#" {
                if isEscaped {
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else if character == current {
                    mark = nil
                }
                continue
            }
            if kind != "#", character == "'" || character == "\"" {
                mark = character
                continue
            }
            let next = text.index(after: index)
            if open == 0, character == last, next < text.endIndex, text[next] == "}" { return index }
            if kind == "{", character == "{" { open += 1 }
            if kind == "{", character == "}", open > 0 { open -= 1 }
        }
        return nil
    }

    /// Reads parts up to the end or to the statement that ends them, which it returns.
    private mutating func parts(depth: Int) throws(TemplateError) -> ([TemplatePart], ending: String?) {
        guard depth <= Self.maximumDepth else { throw .unsupported("statements nested more than 8 deep") }
        var result: [TemplatePart] = []
        while position < pieces.count {
            let piece = pieces[position]
            position += 1
            switch piece {
            case .text(let text): result.append(.text(text))
            case .output(let body):
                result.append(.output(try TemplateExpressionParser.expression(of: TemplateLexer.tokens(of: body))))
            case .statement(let body):
                let tokens = try TemplateLexer.tokens(of: body)
                guard case .name(let word) = tokens.first else { throw .malformed("a statement has no name") }
                switch word {
                case "if": result.append(try conditional(Array(tokens.dropFirst()), depth: depth))
                case "set":
                    guard tokens.count > 3, case .name(let name) = tokens[1], tokens[2] == .symbol("=") else {
                        throw .unsupported("this form of set")
                    }
                    let value = try TemplateExpressionParser.expression(of: Array(tokens.dropFirst(3)))
                    result.append(.assignment(name, value))
                case "elif", "else", "endif":
                    position -= 1
                    return (result, word)
                default: throw .unsupported("the statement \(word)")
                }
            }
        }
        return (result, nil)
    }

    private mutating func conditional(
        _ condition: [TemplateToken], depth: Int
    ) throws(TemplateError) -> TemplatePart {
        var branches: [TemplatePart.Branch] = []
        var condition: TemplateExpression? = try TemplateExpressionParser.expression(of: condition)
        while true {
            let (parts, ending) = try parts(depth: depth + 1)
            branches.append(.init(condition: condition, parts: parts))
            guard let ending, case .statement(let body) = pieces[position] else {
                throw .malformed("endif is missing")
            }
            position += 1
            switch ending {
            case "endif": return .conditional(branches)
            case "elif":
                let tokens = try TemplateLexer.tokens(of: body)
                condition = try TemplateExpressionParser.expression(of: Array(tokens.dropFirst()))
            default: condition = nil
            }
        }
    }
}
