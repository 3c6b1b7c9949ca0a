/// The header lines of a message in order. Names compare without regard to case, since cameras mix the cases.
public struct RTSPHeaders: Equatable, Sendable, ExpressibleByDictionaryLiteral {
    /// One line.
    public struct Field: Equatable, Sendable {
        /// The name as written.
        public var name: String
        /// The value without the space around it.
        public var value: String

        /// Makes a line.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The lines in order.
    public var fields: [Field]

    /// Makes headers from their lines.
    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The value of the first line called `name`; setting it replaces every line of that name.
    public subscript(name: String) -> String? {
        get { fields.first { $0.name.lowercased() == name.lowercased() }?.value }
        set {
            fields.removeAll { $0.name.lowercased() == name.lowercased() }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    /// The values of every line called `name`.
    public func all(_ name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// Reads header lines. A line without a colon is ignored. A line that begins with space continues the one before it
    /// (RFC 2326, section 4.2). Control characters become spaces, so a value cannot end a line.
    init(lines: some Sequence<Substring>) {
        fields = []
        for line in lines {
            let text = String(decoding: line.utf8.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }, as: UTF8.self)
            if text.utf8.first == 0x20, !fields.isEmpty {
                fields[fields.count - 1].value += " " + text.trimmedASCII
                continue
            }
            let (name, value) = text.cut(at: ":")
            guard let value, !name.trimmedASCII.isEmpty else { continue }
            fields.append(Field(name: name.trimmedASCII, value: value.trimmedASCII))
        }
    }

    func encode(into bytes: inout [UInt8]) {
        for field in fields {
            bytes += "\(field.name): \(field.value)\r\n".utf8
        }
    }
}
