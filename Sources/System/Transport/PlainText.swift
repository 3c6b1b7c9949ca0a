/// Makes text from others (a camera, a viewer, a file) safe for a terminal and for a log.
///
/// A terminal obeys control characters: they move the cursor and change the window's title, and on some terminals they
/// run commands. Bidirectional controls make a line read differently from what it says.
extension Unicode.Scalar {
    /// Whether a terminal or a reader may be misled by it: a control character (C0, DEL, C1), a bidirectional control,
    /// or one of Unicode's own line ends.
    public var isControlling: Bool {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F: true
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        case 0x2028, 0x2029: true
        default: false
        }
    }

    /// The scalar as `\u001b`.
    public var escaped: String {
        let digits = String(value, radix: 16)
        return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

extension StringProtocol {
    /// The text on one line: every controlling character is written as `\u001b`.
    public var onOneLine: String { escapingControls { _, _ in false } }

    /// The text for a terminal: its line ends and tabs stay, every other controlling character is written as `\u001b`.
    /// A carriage return stays only before a line feed, since by itself it lets the following text overwrite the line.
    public var forTerminal: String {
        escapingControls { scalar, next in
            scalar == "\n" || scalar == "\t" || scalar == "\r" && next == "\n"
        }
    }

    private func escapingControls(
        keeping isKept: (_ scalar: Unicode.Scalar, _ next: Unicode.Scalar?) -> Bool
    ) -> String {
        guard unicodeScalars.contains(where: \.isControlling) else { return String(self) }
        var result = ""
        let scalars = unicodeScalars
        var index = scalars.startIndex
        while index < scalars.endIndex {
            let scalar = scalars[index]
            index = scalars.index(after: index)
            if scalar.isControlling, !isKept(scalar, index < scalars.endIndex ? scalars[index] : nil) {
                result += scalar.escaped
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
