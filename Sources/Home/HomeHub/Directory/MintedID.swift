/// Identifiers that the home gives to its objects: a letter and 128 random bits. They say nothing about the object, and
/// none is used twice.
package enum MintedID {
    /// How many characters each has.
    static let length = 33

    static func device() -> String { make("d") }
    static func structure() -> String { make("s") }
    static func room() -> String { make("r") }

    /// Whether a text has the form of a device's identifier.
    package static func isDevice(_ text: some StringProtocol) -> Bool {
        text.utf8.count == length && text.utf8.first == UInt8(ascii: "d")
            && text.utf8.dropFirst().allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }

    private static func make(_ kind: Character) -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = (0..<2).map { _ in
            let text = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        return String(kind) + digits.joined()
    }
}
