/// Reads JSON (RFC 8259) into a ``JSONTree``.
///
/// The bytes come from clients, so their depth is limited before anything is read. Names that an object repeats are
/// refused: readers disagree on which of them counts.
struct JSONTreeReader {
    /// How deep lists and objects may nest.
    static let depthLimit = 160

    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads one value, and nothing after it.
    static func read(_ bytes: [UInt8]) throws(GraphError) -> JSONTree {
        var reader = JSONTreeReader(bytes)
        let tree = try reader.value()
        reader.skipSpace()
        guard reader.position == bytes.count else { throw reader.fault("there is more after the end of the graph") }
        return tree
    }

    private func fault(_ problem: String) -> GraphError {
        GraphError(.malformed, "byte \(position)", "\(problem); the graph must be one JSON object")
    }

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }

    private mutating func take(_ character: Character) -> Bool {
        guard position < bytes.count, bytes[position] == character.asciiValue else { return false }
        position += 1
        return true
    }

    private mutating func take(word: StaticString) -> Bool {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count, bytes[position..<end].elementsEqual("\(word)".utf8) else { return false }
        position = end
        return true
    }

    private mutating func value() throws(GraphError) -> JSONTree {
        skipSpace()
        guard position < bytes.count else { throw fault("the JSON ends early") }
        let start = position
        let content: JSONContent
        switch bytes[position] {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard depth < Self.depthLimit else {
                throw GraphError(
                    .tooDeep, "byte \(position)",
                    "lists and objects nest more than \(Self.depthLimit) deep; split the automation")
            }
            depth += 1
            content = bytes[position] == UInt8(ascii: "{") ? .object(try object()) : .list(try list())
            depth -= 1
        case UInt8(ascii: "\""): content = .text(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): content = .number(try number())
        default:
            if take(word: "true") {
                content = .bool(true)
            } else if take(word: "false") {
                content = .bool(false)
            } else if take(word: "null") {
                content = .null
            } else {
                throw fault("no JSON value begins here")
            }
        }
        return JSONTree(content: content, range: start..<position)
    }

    private mutating func list() throws(GraphError) -> [JSONTree] {
        position += 1
        var items: [JSONTree] = []
        skipSpace()
        if take("]") { return items }
        while true {
            items.append(try value())
            skipSpace()
            if take("]") { return items }
            guard take(",") else { throw fault("a comma or the end of the list is missing") }
        }
    }

    private mutating func object() throws(GraphError) -> [JSONMember] {
        position += 1
        var members: [JSONMember] = []
        var names: Set<String> = []
        skipSpace()
        if take("}") { return members }
        while true {
            skipSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
                throw fault("the name of a member is missing")
            }
            let name = try string()
            guard names.insert(name).inserted else { throw fault("the member \(name) occurs twice") }
            skipSpace()
            guard take(":") else { throw fault("the colon after a member's name is missing") }
            members.append(JSONMember(name: name, value: try value()))
            skipSpace()
            if take("}") { return members }
            guard take(",") else { throw fault("a comma or the end of the object is missing") }
        }
    }

    private mutating func digits() throws(GraphError) {
        let start = position
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        while position < bytes.count, digits.contains(bytes[position]) { position += 1 }
        guard position > start else { throw fault("a digit is missing") }
    }

    private mutating func number() throws(GraphError) -> String {
        let start = position
        _ = take("-")
        let first = position
        try digits()
        guard bytes[first] != UInt8(ascii: "0") || position == first + 1 else {
            throw fault("a number must not begin with a zero")
        }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }
}

extension JSONTreeReader {
    private mutating func string() throws(GraphError) -> String {
        position += 1
        var text: [UInt8] = []
        while true {
            guard position < bytes.count else { throw fault("a string does not end") }
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let result = String(validating: text, as: UTF8.self) else {
                    throw fault("a string is not UTF-8")
                }
                return result
            case UInt8(ascii: "\\"): text += Array(String(try escaped()).utf8)
            case 0..<0x20: throw fault("a string has a control character")
            default: text.append(byte)
            }
        }
    }

    private mutating func escaped() throws(GraphError) -> Character {
        guard position < bytes.count else { throw fault("a string does not end") }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let first = try unit()
            guard (0xD800..<0xDC00).contains(first) else {
                guard let scalar = Unicode.Scalar(first) else { throw fault("an escape is half a character") }
                return Character(scalar)
            }
            guard take("\\"), take("u") else { throw fault("an escape is half a character") }
            let second = try unit()
            guard (0xDC00..<0xE000).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
            else { throw fault("an escape is half a character") }
            return Character(scalar)
        default: throw fault("a string has an unknown escape")
        }
    }

    /// The number behind `\u`.
    private mutating func unit() throws(GraphError) -> UInt32 {
        let end = position + 4
        guard end <= bytes.count,
            bytes[position..<end].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let unit = UInt32(String(decoding: bytes[position..<end], as: UTF8.self), radix: 16)
        else { throw fault("an escape lacks its four digits") }
        position = end
        return unit
    }
}
