import Foundation
import HomeTypes

/// Who sent a request, and what the token permits. The authentication makes it, and every later decision uses it.
struct Authorization: Sendable, Equatable {
    /// The name of the token's holder.
    var principal: String
    /// What the token permits, and where.
    var access: Access
    /// The token's record; nil for a token of the file.
    var tokenID: String?
    /// The digest of the secret that was sent; nil for a token of the file.
    var secretDigest: String?
    /// When the token ends; nil for one that does not.
    var expiresAt: Date?

    /// Whether it is the owner's own token, which alone may do some things.
    var isOwner: Bool { tokenID == nil && principal == TokenStore.owner }
}
