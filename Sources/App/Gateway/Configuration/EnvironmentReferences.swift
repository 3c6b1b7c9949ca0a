/// The form `${NAME}` in a text, which stands for a variable of the environment; `$${` stands for `${` itself.
///
/// Texts are looked at as bytes, both to replace the form and to take its meaning away: as characters, a mark before the
/// `$` or behind the `{` makes another character of it, and what one side overlooks the other one must not find.
enum EnvironmentReferences {
    /// Why a text has no value.
    enum Failure: Error, Equatable {
        /// No `}` follows.
        case open
        /// The environment has no such variable.
        case unknown(String)
    }

    /// The text with the environment's values in the place of the names.
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

    /// The text that stands for `text` as it is.
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
