import COpenSSL
import Foundation
import HomeTypes
import Signalling
import Transport

/// Gives linked clients their tokens: codes against tokens, and refresh tokens against new ones (RFC 6749, sections 4.1
/// and 6).
struct AccountLinks: Sendable {
    /// How long an access token works, in seconds.
    static let accessLifetime = 3_600
    /// How many access tokens one link has at most; the oldest gives way.
    static let accessTokens = 8
    /// How many used refresh tokens one link remembers.
    static let usedTokens = 32

    /// The response of the token endpoint (RFC 6749, section 5.1).
    struct Tokens: Codable, Sendable, Equatable {
        var access_token: String
        var token_type = "Bearer"
        var expires_in = AccountLinks.accessLifetime
        var refresh_token: String?
    }

    let clients: [GatewayConfiguration.OAuthClient]
    let registry: TokenRegistry
    /// The structure of a device.
    private let structureOf: @Sendable (_ device: String) -> String?
    private let codes = Locked(AuthorizationCodes())

    init(
        clients: [GatewayConfiguration.OAuthClient], registry: TokenRegistry,
        structureOf: @escaping @Sendable (_ device: String) -> String? = { _ in nil }
    ) {
        self.clients = clients
        self.registry = registry
        self.structureOf = structureOf
    }

    /// The client of this id; nil for one that the config does not list.
    func client(_ id: String) -> GatewayConfiguration.OAuthClient? {
        clients.first { $0.id == id }
    }

    /// The client that a request comes from, after its secret was compared.
    func authenticated(id: String, secret: String?) throws(OAuthError) -> GatewayConfiguration.OAuthClient {
        guard let client = client(id) else { throw OAuthError(.invalidClient, "the client is not known") }
        // Digests have one length, so the time reveals nothing.
        let matches: Bool =
            switch (client.secret, secret) {
            case (nil, nil): true
            case (let expected?, let given?):
                CRYPTO_memcmp(TokenStore.digest(of: expected), TokenStore.digest(of: given), 32) == 0
            default: false
            }
        guard matches else { throw OAuthError(.invalidClient, "the client's secret is wrong or missing") }
        return client
    }

    /// Makes a code for what a person has agreed to.
    func code(for consent: AuthorizationCodes.Consent) throws(HomeError) -> String {
        guard let code = TokenStore.makeToken(prefix: "gatehouse_code_") else {
            throw .unavailable("the system's random source failed")
        }
        let now = registry.now()
        if let refusal = codes.withLock({ $0.add(code, consent, at: now) }) {
            throw .resourceExhausted("too many accounts are being linked: \(refusal.words); try again in ten minutes")
        }
        return code
    }

    /// Redeems a code. The person's own token must still work, and still permit what the code promises.
    func redeem(
        _ code: String, client: GatewayConfiguration.OAuthClient, redirect: String?, verifier: String?
    ) async throws -> Tokens {
        let now = registry.now()
        let outcome = codes.withLock { codes in
            codes.redeem(code, clientID: client.id, redirect: redirect, verifier: verifier, at: now)
        }
        switch outcome {
        case .refused(let reason): throw OAuthError(.invalidGrant, reason)
        case .replayed(let tokenID):
            // It may have ended already.
            if let tokenID { try? await registry.revoke(tokenID) }
            throw Self.replay
        case .consent(let consent):
            let expiresAt = try linkEnd(of: consent)
            let (tokens, secrets) = try Self.made(at: now, withRefresh: true)
            let record = TokenRecord(
                id: TokenRegistry.newID(), name: name(of: client, for: consent.principal), access: consent.access,
                createdAt: GatewayAPI.wholeSeconds(now), createdBy: consent.principal, expiresAt: expiresAt,
                clientID: client.id, secrets: secrets)
            codes.withLock { $0.record(tokenID: record.id, of: code) }
            try await registry.add(record)
            // The second request may have come before there was a token to revoke.
            guard !codes.withLock({ $0.wasReplayed(code) }) else {
                try? await registry.revoke(record.id)
                throw Self.replay
            }
            // The person's token may have been revoked, and the tokens made with it, before this one was there.
            do throws(OAuthError) {
                guard try linkEnd(of: consent) == expiresAt else { throw Self.withdrawn }
            } catch {
                try? await registry.revoke(record.id)
                throw error
            }
            return tokens
        }
    }

    /// When the token of a person ends who has agreed, and the link with it; nil for one that does not.
    /// - Throws: `invalid_grant` if the secret with which the person agreed does not work any more (the token was revoked or
    ///   has ended, the person has signed out, or has another password), or if the token does not permit all of it any more.
    private func linkEnd(of consent: AuthorizationCodes.Consent) throws(OAuthError) -> Date? {
        guard let digest = consent.secretDigest else { return nil }
        guard let (stored, _) = registry.secret(withDigest: digest),
            stored.record.access.includes(consent.access, structureOf: structureOf)
        else { throw Self.withdrawn }
        return stored.record.expiresAt
    }

    private static let withdrawn = OAuthError(
        .invalidGrant, "the person who agreed has lost these rights, or has signed out")

    private static let replay = OAuthError(
        .invalidGrant, "the code was used before; the tokens that it led to were revoked")

    /// Exchanges a refresh token. A public client gets another one with it; if the old one comes again, somebody has
    /// stolen it, and the whole link ends (RFC 9700, section 4.14.2). A confidential client keeps its own: it proves
    /// itself with its secret, and widely used ones, Google among them, do not take another.
    func refresh(_ token: String, client: GatewayConfiguration.OAuthClient) async throws -> Tokens {
        guard let (stored, secret) = registry.secret(token), stored.record.clientID == client.id else {
            throw OAuthError(.invalidGrant, "the refresh token is unknown, or was revoked")
        }
        let now = registry.now()
        let digest = secret.digest
        let rotates = client.secret == nil
        let (tokens, secrets) = try Self.made(at: now, withRefresh: rotates)
        let outcome = TakenOnce()
        do throws(HomeError) {
            try await registry.change(stored.record.id) { record throws(HomeError) in
                // The registry makes one change after the other, so of two requests with one token the second is a reuse.
                guard let index = record.secrets.firstIndex(where: { $0.digest == digest && $0.kind == .refresh })
                else { return }
                outcome.take()
                if rotates { record.secrets[index].kind = .used }
                record.secrets.removeAll { $0.kind == .access && $0.expiresAt.map { $0 <= now } ?? false }
                record.secrets += secrets
                record.trim()
            }
        } catch {
            throw OAuthError(.temporarilyUnavailable, error.message)
        }
        guard outcome.isTaken else {
            guard secret.kind != .access else {
                throw OAuthError(.invalidGrant, "this is an access token")
            }
            // It may have ended already.
            try? await registry.revoke(stored.record.id)
            throw OAuthError(.invalidGrant, "the refresh token was used before; the link was ended")
        }
        return tokens
    }

    /// Ends the link that a token belongs to (RFC 7009, section 2.1). An unknown token is not an error.
    func revoke(_ token: String, client: GatewayConfiguration.OAuthClient) async {
        guard let (stored, _) = registry.secret(token), stored.record.clientID == client.id else { return }
        // Somebody else may have revoked it at the same moment.
        try? await registry.revoke(stored.record.id)
    }

    private static func made(
        at now: Date, withRefresh: Bool
    ) throws(OAuthError) -> (Tokens, [TokenRecord.Secret]) {
        guard let access = TokenStore.makeToken(), let refresh = TokenStore.makeToken(prefix: "gatehouse_refresh_")
        else { throw OAuthError(.temporarilyUnavailable, "the system's random source failed") }
        var secrets = [
            TokenRecord.Secret(
                kind: .access, digest: TokenRegistry.digest(of: access),
                expiresAt: GatewayAPI.wholeSeconds(now.addingTimeInterval(Double(accessLifetime))))
        ]
        if withRefresh { secrets.append(.init(kind: .refresh, digest: TokenRegistry.digest(of: refresh))) }
        return (Tokens(access_token: access, refresh_token: withRefresh ? refresh : nil), secrets)
    }

    /// The client's name and the person's, with a number where several links have the same.
    private func name(of client: GatewayConfiguration.OAuthClient, for principal: String) -> String {
        let taken = Set(registry.all.map(\.record.name) + registry.file.holders.map(\.name))
        let base = "\(client.name) of \(principal)"
        guard taken.contains(base) else { return base }
        let numbered = (2...TokenRegistry.maximumCount + 1).lazy.map { "\(base) \($0)" }
        return numbered.first { !taken.contains($0) } ?? TokenRegistry.newID()
    }
}

/// Whether a refresh token was there for this request.
private final class TakenOnce: Sendable {
    private let state = Locked(false)
    var isTaken: Bool { state.withLock { $0 } }
    func take() { state.withLock { $0 = true } }
}

extension TokenRecord {
    /// Forgets the oldest access tokens and the oldest used refresh tokens beyond their limits.
    fileprivate mutating func trim() {
        for (kind, limit) in [(Secret.Kind.access, AccountLinks.accessTokens), (.used, AccountLinks.usedTokens)] {
            var excess = secrets.count { $0.kind == kind } - limit
            secrets.removeAll { secret in
                guard excess > 0, secret.kind == kind else { return false }
                excess -= 1
                return true
            }
        }
    }
}
