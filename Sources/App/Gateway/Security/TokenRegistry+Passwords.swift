import Foundation
import HomeTypes

/// Tokens with a password: a person signs in and gets a secret of the token for a browser or an app.
extension TokenRegistry {
    /// What a person gets who signs in.
    struct Session: Sendable {
        /// The secret, shown once.
        var token: String
        var principal: String
        var expiresAt: Date
    }

    /// How long somebody stays signed in.
    static let sessionSeconds: TimeInterval = 90 * 86_400
    /// How many browsers and apps one person is signed in with; the oldest gives way.
    static let sessionsOfOne = 16

    /// The token of a person who has a password; nil for a name without one.
    nonisolated func holder(named name: String) -> Stored? {
        all.first { $0.record.name == name && $0.record.password != nil }
    }

    /// Adds a secret for somebody who has signed in.
    /// - Parameter hash: the password that was right; it may have been changed meanwhile.
    func addSession(to id: String, signedInWith hash: PasswordHash) async throws(HomeError) -> Session {
        guard let secret = TokenStore.makeToken() else { throw .unavailable("the system's random source failed") }
        let now = self.now()
        let end = GatewayAPI.wholeSeconds(now.addingTimeInterval(Self.sessionSeconds))
        let changed = try await change(id) { record throws(HomeError) in
            guard record.password == hash else { throw .unauthenticated("the name or the password is wrong") }
            record.secrets.removeAll { $0.expiresAt.map { $0 <= now } ?? false }
            record.secrets.append(.init(kind: .access, digest: Self.digest(of: secret), expiresAt: end))
            record.secrets.removeFirst(max(0, record.secrets.count - Self.sessionsOfOne))
        }
        let expiresAt = [changed.record.expiresAt, end].compactMap(\.self).min() ?? end
        return Session(token: secret, principal: changed.record.name, expiresAt: expiresAt)
    }

    /// Signs out: the secret stops working. What else its holder has stays.
    /// - Throws: `failedPrecondition` for a token that nobody has signed in for; it is revoked instead.
    func endSession(of token: String) async throws(HomeError) {
        guard let (stored, secret) = secret(token), stored.record.password != nil else {
            throw .failedPrecondition("nobody has signed in for this token; an administrator can revoke it")
        }
        try await change(stored.record.id) { record in record.secrets.removeAll { $0.digest == secret.digest } }
    }
}
