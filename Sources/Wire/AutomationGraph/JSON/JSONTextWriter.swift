import HomeTypes

/// Writes JSON in one way only, so that equal graphs have equal bytes.
struct JSONTextWriter {
    private(set) var text = ""
    private var needsComma = false

    private mutating func begin() {
        if needsComma { text += "," }
        needsComma = true
    }

    mutating func object(_ content: (inout JSONTextWriter) -> Void) { enclosed("{", "}", content) }

    mutating func list(_ content: (inout JSONTextWriter) -> Void) { enclosed("[", "]", content) }

    private mutating func enclosed(_ open: String, _ close: String, _ content: (inout JSONTextWriter) -> Void) {
        begin()
        text += open
        needsComma = false
        content(&self)
        text += close
        needsComma = true
    }

    /// Begins a member of an object. Its value comes next.
    mutating func name(_ name: String) {
        begin()
        text += Self.quoted(name) + ":"
        needsComma = false
    }

    mutating func member(_ name: String, _ value: String) {
        self.name(name)
        string(value)
    }

    mutating func string(_ value: String) { raw(Self.quoted(value)) }

    /// Writes text that is a JSON value already.
    mutating func raw(_ json: String) {
        begin()
        text += json
    }

    mutating func value(_ value: JSONObject.Value) {
        switch value {
        case .null: raw("null")
        case .bool(let value): raw(value ? "true" : "false")
        case .integer(let value): raw("\(value)")
        case .large(let value): raw("\(value)")
        // JSON has no other numbers. No reader makes them, and no attribute has them.
        case .number(let value): raw(value.isFinite ? "\(value)" : "null")
        case .text(let value): string(value)
        case .list(let items): list { writer in for item in items { writer.value(item) } }
        case .object(let members): object(members)
        }
    }

    mutating func object(_ members: [String: JSONObject.Value]) {
        object { writer in
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                writer.name(name)
                writer.value(value)
            }
        }
    }

    static func quoted(_ value: String) -> String {
        var result = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
