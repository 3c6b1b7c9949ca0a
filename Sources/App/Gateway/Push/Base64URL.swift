import Foundation

/// Base64 for URLs, without padding (RFC 4648, section 5; RFC 7515, section 2).
enum Base64URL {
    /// The text of bytes.
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The bytes of a text; nil for anything else. Padding is accepted, because some browsers send it.
    static func bytes(_ text: String) -> [UInt8]? {
        let bare = text.replacing("=", with: "")
        guard bare.utf8.allSatisfy({ Self.isDigit($0) }), bare.utf8.count % 4 != 1 else { return nil }
        let usual = bare.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - usual.utf8.count % 4) % 4)
        return Data(base64Encoded: usual + padding).map { Array($0) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            || byte == 0x2D || byte == 0x5F
    }
}
