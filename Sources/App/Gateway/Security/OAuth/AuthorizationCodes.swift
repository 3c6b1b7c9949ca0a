import Foundation
import HomeTypes
import Signalling

/// The authorization codes that were given out and not forgotten yet (RFC 6749, section 4.1.2). A value without a clock:
/// the caller hands in the time.
struct AuthorizationCodes: Sendable {
    /// How long a code works, in seconds. The client's server redeems it at once.
    static let lifetime = 60.0
    /// How long a code that was redeemed is remembered, in seconds, to notice when it comes again.
    static let memory = 600.0
    /// How many codes there can be, and how many of them one principal may have: nobody keeps the others from linking.
    static let shares = PlaceShares(total: 256)

    /// What a person has agreed to.
    struct Consent: Sendable, Equatable {
        var clientID: String
        var redirect: String
        /// The challenge of PKCE by S256 (RFC 7636, section 4.3); nil where a confidential client sent none.
        var challenge: String?
        var access: Access
        /// Who agreed.
        var principal: String
        /// The digest of the secret with which the person agreed; nil for a token of the file, which always works.
        var secretDigest: String?
    }

    /// What became of a code.
    enum Redemption: Sendable, Equatable {
        case consent(Consent)
        /// The code was redeemed before: somebody has a copy. The tokens that it led to end.
        case replayed(tokenID: String?)
        /// The code does not exist, has expired, or belongs to another request.
        case refused(String)
    }

    private struct Entry {
        var consent: Consent
        var madeAt: Date
        var isRedeemed = false
        var isReplayed = false
        var tokenID: String?
    }

    /// The codes by their digests.
    private var entries: [String: Entry] = [:]

    /// Remembers a code.
    /// - Returns: the refusal where no place is free; nil if the code was added.
    mutating func add(_ code: String, _ consent: Consent, at now: Date) -> PlaceShares.Refusal? {
        entries = entries.filter { now.timeIntervalSince($0.value.madeAt) < Self.memory }
        let holders = entries.values.map(\.consent.principal)
        if let refusal = Self.shares.refusal(of: consent.principal, holders: holders) { return refusal }
        entries[TokenRegistry.digest(of: code)] = Entry(consent: consent, madeAt: now)
        return nil
    }

    /// Redeems a code, once.
    mutating func redeem(
        _ code: String, clientID: String, redirect: String?, verifier: String?, at now: Date
    ) -> Redemption {
        let digest = TokenRegistry.digest(of: code)
        guard let entry = entries[digest], entry.consent.clientID == clientID else {
            return .refused("the code is unknown, or belongs to another client")
        }
        guard !entry.isRedeemed else {
            entries[digest]?.isReplayed = true
            return .replayed(tokenID: entry.tokenID)
        }
        // Whatever is wrong with the request, the code is used up: nobody tries twice.
        entries[digest]?.isRedeemed = true
        guard now.timeIntervalSince(entry.madeAt) < Self.lifetime else { return .refused("the code has expired") }
        guard redirect == entry.consent.redirect else {
            return .refused("redirect_uri is not the one that the code was sent to")
        }
        switch (entry.consent.challenge, verifier) {
        case (nil, nil): break
        case (let challenge?, let verifier?):
            guard Self.challenge(of: verifier) == challenge else { return .refused("code_verifier is wrong") }
        case (_?, nil): return .refused("code_verifier is missing")
        case (nil, _?): return .refused("the code was requested without code_challenge")
        }
        return .consent(entry.consent)
    }

    /// Notes which token a code led to.
    mutating func record(tokenID: String, of code: String) {
        entries[TokenRegistry.digest(of: code)]?.tokenID = tokenID
    }

    /// Whether a code came again after it was redeemed.
    func wasReplayed(_ code: String) -> Bool { entries[TokenRegistry.digest(of: code)]?.isReplayed ?? false }

    /// The challenge of a verifier: the Base64url of its SHA-256 (RFC 7636, section 4.2).
    static func challenge(of verifier: String) -> String {
        Data(TokenStore.digest(of: verifier)).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
