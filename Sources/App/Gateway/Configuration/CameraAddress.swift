import Foundation
import RTSP

/// The address of a camera as text, and the secrets in it.
///
/// Cameras expect their password in the user part, in the query (`?password=…`), or even in the path
/// (`/user=admin_password=…`). All of these are found.
struct CameraAddress {
    /// The replacement for a secret in a response.
    static let mask = "***"

    let text: String

    /// The part between `//` and the path. A password in it may contain slashes and question marks, as it may for the
    /// source that connects.
    var authority: Substring { RTSPURL.authority(of: afterSlashes) }

    private var afterSlashes: Substring { text.drop { $0 != "/" }.dropFirst(2) }

    /// The address with a mark in place of each secret.
    var masked: String { replacingSecrets(with: Self.mask) }

    /// The address with `text` in place of each secret.
    func replacingSecrets(with text: String) -> String {
        var result = ""
        var rest = self.text.startIndex
        for range in secretRanges {
            result += self.text[rest..<range.lowerBound] + text
            rest = range.upperBound
        }
        return result + self.text[rest...]
    }

    /// The secrets as they are written in the address, and without percent-encoding.
    var secrets: [String] {
        secretRanges.flatMap { range in
            let encoded = String(text[range])
            guard let plain = encoded.removingPercentEncoding, plain != encoded else { return [encoded] }
            return [encoded, plain]
        }
    }

    /// Names of parameters whose value is secret.
    private static let secretNames = ["password", "passwd", "pwd", "pass", "token", "secret", "auth", "key"]

    private var secretRanges: [Range<String.Index>] { secretParts.map(\.range) }

    /// A secret of the address.
    struct SecretPart {
        /// The name of the parameter in lower case; empty for the password of the user part.
        let name: String
        let range: Range<String.Index>
    }

    /// The secrets in the order of the address.
    var secretParts: [SecretPart] {
        var parts: [SecretPart] = []
        let authority = self.authority
        var place = authority.endIndex
        if let range = RTSPURL.possiblePassword(of: afterSlashes) {
            // This is read as an address, but may be a password.
            parts.append(SecretPart(name: "", range: range))
            place = range.upperBound
        } else if let at = authority.lastIndex(of: "@"), let colon = authority[..<at].firstIndex(of: ":") {
            let start = authority.index(after: colon)
            if start < at { parts.append(SecretPart(name: "", range: start..<at)) }
        }
        let beginning = place
        while let equals = text[place...].firstIndex(of: "=") {
            place = text.index(after: equals)
            let name = text[beginning..<equals].reversed().prefix { $0.isLetter }
            let word = String(name.reversed()).lowercased()
            guard Self.secretNames.contains(where: word.hasSuffix) else { continue }
            let end = text[place...].firstIndex { "&;?#/".contains($0) } ?? text.endIndex
            if place < end { parts.append(SecretPart(name: word, range: place..<end)) }
            place = end
        }
        return parts
    }
}
