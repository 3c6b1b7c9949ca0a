/// What shell completion may offer.
///
/// Names come from people, from the API and from an MQTT broker, and the scripts of the shells read them again: bash's
/// `compgen -W` expands each word, so it runs `$(…)` and takes quotes away, and in zsh a colon ends the word.
enum ShellWord {
    /// The first of these texts that every shell takes for itself, as it is; nil if none is such a text.
    static func first(_ texts: String?...) -> String? {
        texts.compactMap { $0 }.first { isHarmless($0) }
    }

    /// Whether a text has only letters, digits, spaces and punctuation that means nothing to a shell.
    static func isHarmless(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        // A word that begins with a hyphen is an option, and spaces at the ends are lost.
        guard let first = scalars.first, let last = scalars.last, first != "-", first != " ", last != " " else {
            return false
        }
        // One by one: a character of several scalars may begin with a letter and have a dollar sign in it.
        return scalars.allSatisfy { isHarmlessScalar($0) }
    }

    private static func isHarmlessScalar(_ scalar: Unicode.Scalar) -> Bool {
        guard !scalar.isASCII else {
            return switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", " ", "-", "_", ".", ",", "+", "/": true
            default: false
            }
        }
        return switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .decimalNumber, .letterNumber, .otherNumber:
            true
        default: false
        }
    }
}
