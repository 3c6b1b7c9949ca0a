// The few text functions that the headers need. They work on UTF-8, without a locale and without Foundation.

extension StringProtocol {
    /// The text without spaces, tabs and line ends on either side.
    var trimmedASCII: String {
        var bytes = Array(utf8)[...]
        while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
        while let first = bytes.first, first <= 0x20 { bytes.removeFirst() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the text begins with `prefix`, whatever the case.
    func hasPrefixIgnoringCase(_ prefix: String) -> Bool {
        utf8.count >= prefix.utf8.count
            && zip(utf8, prefix.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }

    /// The text before the first `separator`, and the text after it, which is nil where there is none.
    func cut(at separator: Character) -> (head: String, tail: String?) {
        guard let index = firstIndex(of: separator) else { return (String(self), nil) }
        return (String(self[..<index]), String(self[self.index(after: index)...]))
    }

    /// The pieces between `separator`s outside double quotes.
    func splitOutsideQuotes(_ separator: UInt8) -> [String] {
        var pieces: [String] = []
        var piece: [UInt8] = []
        var isQuoted = false
        var isEscaped = false
        for byte in utf8 {
            if byte == separator, !isQuoted {
                pieces.append(String(decoding: piece, as: UTF8.self))
                piece.removeAll()
                continue
            }
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\"), isQuoted {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            }
            piece.append(byte)
        }
        pieces.append(String(decoding: piece, as: UTF8.self))
        return pieces
    }

    /// The content of a quoted string, escapes resolved; the text itself where it is not quoted.
    var unquoted: String {
        let trimmed = Array(trimmedASCII.utf8)
        guard trimmed.count >= 2, trimmed.first == UInt8(ascii: "\""), trimmed.last == UInt8(ascii: "\"") else {
            return String(decoding: trimmed, as: UTF8.self)
        }
        var content: [UInt8] = []
        var isEscaped = false
        for byte in trimmed.dropFirst().dropLast() {
            if byte == UInt8(ascii: "\\"), !isEscaped {
                isEscaped = true
            } else {
                content.append(byte)
                isEscaped = false
            }
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// The text as a quoted string.
    var quoted: String {
        var content: [UInt8] = [UInt8(ascii: "\"")]
        for byte in utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { content.append(UInt8(ascii: "\\")) }
            content.append(byte)
        }
        content.append(UInt8(ascii: "\""))
        return String(decoding: content, as: UTF8.self)
    }

    /// Whether no byte of it could end a header line or a word in one.
    var isSafeInRequestLine: Bool {
        utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }
}

extension UInt8 {
    /// The letter in lower case; every other byte as it is.
    var asciiLowercased: UInt8 {
        self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
    }

    var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
