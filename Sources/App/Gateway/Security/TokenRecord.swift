import Foundation
import HomeTypes

/// A token that the API has made, or everything that one linked account has: its holder, what it permits, how long it
/// works, and the digests of its secrets. The secrets themselves are nowhere.
struct TokenRecord: Sendable, Codable, Equatable {
    /// One secret by its digest.
    struct Secret: Sendable, Codable, Equatable {
        /// What the secret opens.
        enum Kind: String, Sendable, Codable {
            /// The API.
            case access
            /// Another pair of secrets (RFC 6749, section 6), once.
            case refresh
            /// A refresh token that was used. If it comes again, somebody has stolen it (RFC 9700, section 4.14.2).
            case used
        }

        var kind: Kind
        /// SHA-256 in hexadecimal digits.
        var digest: String
        /// When it stops working; nil for as long as the record.
        var expiresAt: Date?
    }

    /// Never used again.
    var id: String
    /// The principal, which is unique among the tokens that work.
    var name: String
    /// What it permits.
    var access: Access
    var createdAt: Date
    /// The principal that made it.
    var createdBy: String
    /// When it ends; nil for one that does not.
    var expiresAt: Date?
    /// When it was revoked; nil while it was not.
    var revokedAt: Date?
    /// The client of a linked account; nil for a token that a person made.
    var clientID: String?
    /// The password of a person, who gets secrets by signing in; nil for a token without one.
    var password: PasswordHash?
    var secrets: [Secret]

    /// Whether it works at a moment.
    func works(at now: Date) -> Bool {
        revokedAt == nil && (expiresAt.map { now < $0 } ?? true)
    }

    /// Ends it for good.
    mutating func revoke(at now: Date) {
        revokedAt = now
        secrets = []
    }
}

extension TokenRecord {
    /// The kind of the objects in the shared store.
    static let kind = "token"

    /// A record from the shared store.
    init(json text: String) throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        self = try decoder.decode(TokenRecord.self, from: Data(text.utf8))
    }

    /// The record as the shared store keeps it.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
