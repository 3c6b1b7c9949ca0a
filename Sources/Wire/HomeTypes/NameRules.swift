/// What a name that people read may contain.
///
/// Control characters change what a terminal does, and bidirectional ones can make a name look like another. Neither
/// belongs in a page, a log or a table.
public enum NameRules {
    /// What is wrong with a name; nil if nothing is. The name itself is not repeated.
    public static func fault(in name: String) -> String? {
        for scalar in name.unicodeScalars {
            let number =
                "U+" + String(repeating: "0", count: max(0, 4 - Self.hexadecimal(scalar).count))
                + Self.hexadecimal(scalar)
            switch scalar.properties.generalCategory {
            case .control: return "contains the control character \(number); remove it"
            case .lineSeparator, .paragraphSeparator: return "contains the line break \(number); remove it"
            default: break
            }
            if Self.bidirectional.contains(scalar) {
                return "contains the character \(number), which changes the direction of text; remove it"
            }
        }
        return nil
    }

    private static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
        String(scalar.value, radix: 16, uppercase: true)
    }

    /// Marks, embeddings, overrides and isolates (Unicode Standard Annex #9, section 2).
    private static let bidirectional: Set<Unicode.Scalar> = [
        "\u{061C}", "\u{200E}", "\u{200F}", "\u{202A}", "\u{202B}", "\u{202C}", "\u{202D}", "\u{202E}", "\u{2066}",
        "\u{2067}", "\u{2068}", "\u{2069}",
    ]
}
