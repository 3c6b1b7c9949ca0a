/// The status and the header fields of an HTTP answer.
public struct HTTPHead: Sendable, Equatable {
    /// One header field.
    public struct Field: Sendable, Equatable {
        /// The name in lower case.
        public var name: String
        /// The value, without space around it.
        public var value: String
    }

    /// The status code, 100 to 599.
    public var status: Int
    /// The fields in their order.
    public var fields: [Field]

    /// The most fields that are kept.
    static let maximumFields = 64

    /// The value of the first field with this name, which is in lower case.
    public func value(of name: String) -> String? { fields.first { $0.name == name }?.value }

    /// The values of all fields with this name, which is in lower case.
    public func values(of name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The type in `Content-Type` in lower case, without its parameters; nil where the answer names none.
    public var contentType: String? {
        value(of: "content-type").map { text in
            String(text.prefix { $0 != ";" }).lowercased().trimmedOfASCIISpace
        }
    }
}

extension String {
    /// The text without spaces and tabs around it.
    var trimmedOfASCIISpace: String {
        var bytes = utf8[...]
        while bytes.first == 0x20 || bytes.first == 0x09 { bytes = bytes.dropFirst() }
        while bytes.last == 0x20 || bytes.last == 0x09 { bytes = bytes.dropLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
