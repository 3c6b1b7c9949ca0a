import Foundation
import RTSP
import Signalling
import Transport

/// Removes secrets and addresses from a text before it reaches a log.
///
/// Secrets are the gateway's tokens, whatever follows `Bearer`, the user part of a URL, ICE passwords and session ids.
/// Addresses are IPv4 and IPv6 literals of other hosts. Loopback and unspecified addresses reveal nothing and stay.
public struct Redactor: Sendable {
    /// The replacement for a secret.
    static let secretMark = "[secret]"
    /// The replacement for an address.
    static let addressMark = "[address]"

    /// Texts that are secret wherever they occur.
    private let secrets: SecretList
    /// Whether addresses stay.
    private let showsAddresses: Bool

    /// - Parameters:
    ///   - secrets: texts that are secret wherever they occur; short ones are ignored, because they would garble words.
    ///   - showsAddresses: whether addresses stay.
    public init(secrets: [String], showsAddresses: Bool = false) {
        self.init(secrets: SecretList(secrets), showsAddresses: showsAddresses)
    }

    /// - Parameters:
    ///   - secrets: texts that are secret wherever they occur; more may be added.
    ///   - showsAddresses: whether addresses stay.
    public init(secrets: SecretList, showsAddresses: Bool = false) {
        self.secrets = secrets
        self.showsAddresses = showsAddresses
    }

    /// The text without secrets and addresses.
    public func redact(_ text: String) -> String {
        var result = text
        for secret in secrets.all where result.contains(secret) {
            result = result.replacingOccurrences(of: secret, with: Self.secretMark)
        }
        result = Self.redactUserParts(result)
        result = Self.redactWords(result, showsAddresses: showsAddresses)
        return result
    }

    /// `rtsp://user:password@host/` becomes `rtsp://[secret]@host/`.
    private static func redactUserParts(_ text: String) -> String {
        guard text.contains("://"), text.contains("@") else { return text }
        var result = ""
        var rest = Substring(text)
        while let separator = rest.range(of: "://") {
            result += rest[..<separator.upperBound]
            rest = rest[separator.upperBound...]
            // A password may contain characters that otherwise end the authority, as it may for the source that
            // connects.
            let address = rest.prefix { !" \t\r\n\"'<>".contains($0) }
            let at = RTSPURL.possiblePassword(of: address)?.upperBound
            if let at = at ?? RTSPURL.authority(of: address).lastIndex(of: "@") {
                result += Self.secretMark
                rest = rest[at...]
            }
        }
        return result + rest
    }

    /// Looks at each word: tokens, what follows `Bearer` or `a=ice-pwd:`, session ids, and addresses.
    private static func redactWords(_ text: String, showsAddresses: Bool) -> String {
        var result = ""
        var word = ""
        var isSecretNext = false
        func isPartOfWord(_ character: Character) -> Bool {
            character.isLetter || character.isNumber || "._:-%+/~".contains(character)
        }
        func flush() {
            guard !word.isEmpty else { return }
            if isSecretNext {
                isSecretNext = false
                result += Self.secretMark
            } else if let token = word.range(of: TokenStore.prefix) {
                result += word[..<token.lowerBound] + Self.secretMark
            } else if let password = word.range(of: "ice-pwd:") {
                result += word[..<password.upperBound] + Self.secretMark
            } else {
                isSecretNext = word.caseInsensitiveCompare("Bearer") == .orderedSame
                let plain = Self.maskedSessions(word)
                result += showsAddresses ? plain : Self.maskedAddress(plain)
            }
            word = ""
        }
        for character in text {
            if isPartOfWord(character) {
                word.append(character)
            } else {
                flush()
                result.append(character)
            }
        }
        flush()
        return result
    }

    /// The lengths of capabilities that are hexadecimal digits: of clips, and of sessions.
    private static let capabilityLengths: Set<Int> = [32, SessionIdentifier.length]

    /// In a path they are between slashes.
    private static func maskedSessions(_ word: String) -> String {
        guard word.utf8.count >= 32 else { return word }
        func isSession(_ part: Substring) -> Bool {
            capabilityLengths.contains(part.utf8.count)
                && part.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        }
        return word.split(separator: "/", omittingEmptySubsequences: false)
            .map { isSession($0) ? Self.secretMark : String($0) }
            .joined(separator: "/")
    }

    /// The word, or the mark if it is an address (perhaps with a port, a scope or punctuation around it).
    private static func maskedAddress(_ word: String) -> String {
        guard word.contains(".") || word.contains(":") else { return word }
        // `host/path`, `tcp/1.2.3.4` and `scheme://1.2.3.4:554/path` are checked between the slashes.
        if word.contains("/") {
            return word.split(separator: "/", omittingEmptySubsequences: false)
                .map { Self.maskedAddress(String($0)) }
                .joined(separator: "/")
        }
        let core = word.drop { ".:".contains($0) && !word.hasPrefix("::") }
        var candidate = String(core)
        var tail = ""
        while let last = candidate.last, ".-".contains(last) || (last == ":" && !candidate.hasSuffix("::")) {
            tail = String(last) + tail
            candidate.removeLast()
        }
        let head = word.dropLast(core.count)
        if let masked = Self.mask(candidate) { return head + masked + tail }
        return word
    }

    private static func mask(_ text: String) -> String? {
        let withoutScope = text.split(separator: "%", maxSplits: 1).first.map(String.init) ?? text
        if let address = TransportAddress(withoutScope, port: 0) {
            return address.isLoopback || address.isUnspecified ? nil : Self.addressMark
        }
        // IPv4 with a port. IPv6 with a port has brackets, which separate words.
        guard let colon = text.lastIndex(of: ":"), let address = TransportAddress(text[..<colon], port: 0),
            !address.isLoopback, !address.isUnspecified
        else { return nil }
        return Self.addressMark + text[colon...]
    }
}
