import Foundation

/// The parameters of a form (`application/x-www-form-urlencoded`), each at most once (RFC 6749, section 3.2).
struct FormBody: Sendable, Equatable {
    private let values: [String: String]

    /// Reads a form.
    init(_ text: String) throws(OAuthError) {
        var values: [String: String] = [:]
        for pair in text.split(separator: "&", omittingEmptySubsequences: true) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]), let value = Self.decoded(parts.count > 1 ? parts[1] : "") else {
                throw OAuthError(.invalidRequest, "the form is not encoded correctly")
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw OAuthError(.invalidRequest, "a parameter occurs twice")
            }
        }
        self.values = values
    }

    /// A parameter; an empty one is treated as absent (RFC 6749, section 3.2).
    subscript(name: String) -> String? {
        values[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A parameter that must be there.
    func require(_ name: String) throws(OAuthError) -> String {
        guard let value = self[name] else { throw OAuthError(.invalidRequest, "\(name) is missing") }
        return value
    }

    private static func decoded(_ text: Substring) -> String? {
        text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
    }

    /// Text as one part of a form or of a query.
    static func encoded(_ text: String) -> String {
        let allowed = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        // Only text with half of a surrogate pair cannot be encoded, and a string of Swift has none.
        return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }
}
