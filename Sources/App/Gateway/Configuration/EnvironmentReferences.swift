/// The form `${NAME}` in a text, which refers to a variable of the environment; `$${` is a literal `${`.
///
/// Texts are handled as bytes, both to replace the form and to escape it. As characters, a combining mark before the
/// `$` or after the `{` would form another character, and one side could overlook what the other one finds.
enum EnvironmentReferences {
    /// Why a text has no value.
    enum Failure: Error, Equatable {
        /// No `}` follows.
        case open
        /// The environment has no such variable.
        case unknown(String)
    }

    /// The text with the names replaced by the environment's values.
    static func replaced(in text: String, environment: [String: String]) throws(Failure) -> String {
        var result: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let start = self.start(in: rest) {
            let before = rest[..<start]
            if before.last == UInt8(ascii: "$") {
                result += before.dropLast() + "${".utf8
                rest = rest[(start + 2)...]
                continue
            }
            guard let end = rest[start...].firstIndex(of: UInt8(ascii: "}")) else { throw .open }
            let name = String(decoding: rest[(start + 2)..<end], as: UTF8.self)
            guard let value = environment[name] else { throw .unknown(name) }
            result += before + value.utf8
            rest = rest[(end + 1)...]
        }
        return String(decoding: result + rest, as: UTF8.self)
    }

    /// The escaped form of `text`, which is replaced by `text` itself.
    static func escaped(_ text: String) -> String {
        var result: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let start = self.start(in: rest) {
            result += rest[..<start] + "$${".utf8
            rest = rest[(start + 2)...]
        }
        return String(decoding: result + rest, as: UTF8.self)
    }

    private static func start(in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.indices.dropLast().first { bytes[$0] == UInt8(ascii: "$") && bytes[$0 + 1] == UInt8(ascii: "{") }
    }
}
