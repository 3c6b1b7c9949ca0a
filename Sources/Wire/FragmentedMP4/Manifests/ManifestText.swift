/// How values are written into manifests.
enum ManifestText {
    /// A quoted string of a playlist (RFC 8216, section 4.2), which may contain neither quotation marks nor line ends.
    static func quoted(_ text: String) -> String {
        "\""
            + text.unicodeScalars.filter { $0 != "\"" && $0.value >= 0x20 && $0.value != 0x7F }.reduce(into: "") {
                $0.unicodeScalars.append($1)
            } + "\""
    }

    /// A URI on a line of its own: without line ends, and not mistaken for a tag.
    static func line(_ uri: String) -> String {
        var text = ""
        for scalar in uri.unicodeScalars where scalar.value > 0x20 && scalar.value != 0x7F {
            if scalar == "#", text.isEmpty { text += "./" }
            text.unicodeScalars.append(scalar)
        }
        return text
    }

    /// A duration in seconds with at most six digits after the point, which is exact to the microsecond. A value that
    /// is not a duration is zero.
    static func decimal(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds > 0 else { return "0.0" }
        let microseconds = Int64((min(seconds, 1e9) * 1e6).rounded())
        var fraction = String(microseconds % 1_000_000)
        fraction = String(repeating: "0", count: 6 - fraction.count) + fraction
        while fraction.count > 1, fraction.hasSuffix("0") { fraction.removeLast() }
        return "\(microseconds / 1_000_000).\(fraction)"
    }

    /// An attribute's value in XML, with its quotation marks.
    static func attribute(_ text: String) -> String {
        var escaped = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            // XML 1.0 has no way to write control characters, and none belongs into an attribute.
            case _ where scalar.value < 0x20 || scalar.value == 0x7F: escaped += " "
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped + "\""
    }
}
