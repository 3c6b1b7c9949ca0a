import COpenSSL
import Foundation
import HomeTypes
import Signalling

/// The tokens of the API, with the names of the principals that hold them.
///
/// The file `token` holds one token per line. Unless the token is the owner's, the principal's name follows it. The
/// owner's token is made at the first start. Sessions are bound to principals, not to tokens.
public struct TokenStore: Sendable {
    /// The principal of a line without a name.
    public static let owner = PlaceShares.owner
    /// The file in the state folder.
    public static let fileName = "token"
    /// The prefix of every token, so that people and secret scanners recognise it.
    public static let prefix = "gatehouse_"

    private struct Entry: Sendable {
        let principal: String
        let token: String
        let digest: [UInt8]
    }

    private let entries: [Entry]

    /// Keeps these tokens.
    init(tokens: [(principal: String, token: String)]) {
        self.entries = tokens.map { Entry(principal: $0.principal, token: $0.token, digest: Self.digest(of: $0.token)) }
    }

    /// Reads the tokens of a state folder; nil if there is no file.
    init?(reading directory: StateDirectory) throws(StateDirectory.Failure) {
        guard let text = try directory.readPrivate(Self.fileName) else { return nil }
        var tokens: [(principal: String, token: String)] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard let token = fields.first, !token.hasPrefix("#") else { continue }
            guard fields.count <= 2, token.utf8.count >= 32, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else {
                throw .init(
                    path: directory.file(Self.fileName),
                    reason: "line \(index + 1) must be a token of at least 32 characters, optionally followed by a name"
                )
            }
            let principal = fields.count > 1 ? String(fields[1]) : Self.owner
            if let fault = NameRules.fault(in: principal) {
                throw .init(path: directory.file(Self.fileName), reason: "line \(index + 1): the name \(fault)")
            }
            tokens.append((principal, String(token)))
        }
        self.init(tokens: tokens)
    }

    /// Reads the tokens of a state folder, and makes the owner's at the first start.
    public init(openingOrCreatingIn directory: StateDirectory) throws(StateDirectory.Failure) {
        if let existing = try TokenStore(reading: directory) {
            // Another token in its place would sign everybody out, and the person who emptied the file would not be
            // noticed.
            guard !existing.entries.isEmpty else {
                throw .init(
                    path: directory.file(Self.fileName),
                    reason: "contains no token; restore the old one, or remove the file to make a new one, with which "
                        + "everybody has to sign in again")
            }
            self = existing
            return
        }
        guard let token = Self.makeToken() else {
            throw .init(path: directory.path, reason: "the system's random source failed")
        }
        try directory.writePrivate(Self.fileName, token + "\n")
        self.init(tokens: [(Self.owner, token)])
    }

    /// The principal that holds this token, or nil. Takes the same time for every wrong token.
    public func principal(holding token: String) -> String? {
        let digest = Self.digest(of: token)
        var found: String?
        for entry in entries
        where CRYPTO_memcmp(entry.digest, digest, entry.digest.count) == 0 && found == nil {
            found = entry.principal
        }
        return found
    }

    /// A principal's token.
    public func token(of principal: String) -> String? {
        entries.first { $0.principal == principal }?.token
    }

    /// All tokens with their principals, for those who compare with more than the token itself.
    var holders: [(name: String, password: String)] { entries.map { ($0.principal, $0.token) } }

    /// All secrets, for the redactor.
    var secrets: [String] { entries.map(\.token) }

    /// 256 random bits after a prefix, or nil if the system's random source fails.
    static func makeToken(prefix: String = TokenStore.prefix) -> String? {
        var bytes = [UInt8](repeating: 0, count: 32)
        guard RAND_bytes(&bytes, 32) == 1 else { return nil }
        let encoded = Data(bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
        return prefix + encoded
    }

    /// Comparing digests makes the time independent of how much of a guess is right, and of the lengths.
    static func digest(of token: String) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        let bytes = Array(token.utf8)
        SHA256(bytes, bytes.count, &digest)
        return digest
    }
}
