// Lines are ASCII in practice; working on bytes avoids the cost of grapheme breaking on every character.

extension StringProtocol where SubSequence == Substring {
    /// The words between runs of spaces and tabs.
    var words: [Substring] {
        slices { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.filter { !$0.isEmpty }
    }

    /// The first word, and what follows the blanks after it.
    var firstWord: (word: Substring, rest: Substring) {
        let text = trimmed
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        guard let end = text.utf8.firstIndex(where: isBlank) else { return (text, "") }
        return (text[..<end], text[end...].trimmed)
    }

    /// The parts between occurrences of `separator`, an ASCII character; empty parts are kept.
    func parts(separatedBy separator: Unicode.Scalar, atMost count: Int = .max) -> [Substring] {
        let byte = UInt8(truncatingIfNeeded: separator.value)
        return slices(atMost: count) { $0 == byte }
    }

    /// Cuts at each byte that is a separator. One pass over the bytes: this is what reading a description mostly does.
    private func slices(atMost count: Int = .max, _ isSeparator: (UInt8) -> Bool) -> [Substring] {
        var result: [Substring] = []
        let view = utf8
        var start = view.startIndex
        var index = start
        while index < view.endIndex {
            let next = view.index(after: index)
            if isSeparator(view[index]), result.count + 1 < count {
                result.append(self[start..<index])
                start = next
            }
            index = next
        }
        result.append(self[start..<view.endIndex])
        return result
    }

    /// The text without leading and trailing spaces and tabs.
    var trimmed: Substring {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var view = self[startIndex..<endIndex].utf8
        while let first = view.first, isBlank(first) { view = view.dropFirst() }
        while let last = view.last, isBlank(last) { view = view.dropLast() }
        return Substring(view)
    }

    /// Whether both are equal when ASCII letters compare without regard to case.
    func equalsIgnoringCase(_ other: some StringProtocol) -> Bool {
        func lower(_ byte: UInt8) -> UInt8 {
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
        return utf8.elementsEqual(other.utf8) { lower($0) == lower($1) }
    }
}

extension UInt8 {
    /// The value of an ASCII hexadecimal digit.
    var hexadecimalDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// Two upper-case hexadecimal digits.
func hexadecimal(_ byte: UInt8) -> String {
    let text = String(byte, radix: 16, uppercase: true)
    return byte < 16 ? "0" + text : text
}
