import COpenSSL
import Transport

/// The access to the server: every client that knows one of its passwords, under any user name.
public struct RTSPAuthentication: Sendable {
    /// What the credentials are for; people see it when they are asked for the password.
    public var realm = "Gatehouse"
    /// Whether a password may be sent in the clear (RFC 7617). An eavesdropper then knows it.
    public var allowsBasic: Bool
    /// How long a nonce is valid.
    public var nonceLifetime: Duration = .seconds(300)

    /// The principal of a token in an address (`?token=`), if the token shows what has this path; nil for no such tokens.
    public var addressPrincipal: (@Sendable (_ token: String, _ path: String) -> String?)?

    /// What a token in an address (`?token=`) permits a publisher; nil for no such tokens.
    public var addressPublisher: (@Sendable (_ token: String, _ path: String) -> PublisherVerdict)?

    /// What a token in a publisher's address permits.
    public enum PublisherVerdict: Equatable, Sendable {
        /// It permits publishing, for this principal.
        case accepted(principal: String)
        /// It works, and does not permit publishing there. Another attempt with it would not help.
        case forbidden(PublisherTokenFault)
        /// It does not work.
        case unknown
    }

    private let principals: [(name: String, password: String)]

    /// Accepts the passwords of these principals.
    public init(principals: [(name: String, password: String)], allowsBasic: Bool = false) {
        self.principals = principals.filter { !$0.password.isEmpty }
        self.allowsBasic = allowsBasic
    }

    /// Accepts these passwords, which all belong to one principal.
    public init(passwords: [String], allowsBasic: Bool = false) {
        self.init(principals: passwords.map { ("", $0) }, allowsBasic: allowsBasic)
    }

    /// The outcome of checking a request's credentials.
    enum Verdict: Equatable {
        case accepted(principal: String)
        /// The request has none.
        case absent
        /// They are right, but not for the current nonce.
        case stale
        /// They are wrong, or of a kind that is not offered.
        case refused
        /// They are right, and do not permit it.
        case forbidden(PublisherTokenFault)
    }

    /// Checks the header of a request. Each password is compared in full, so the time reveals nothing.
    ///
    /// The hashed URI need not be the request's: clients write it absolute, relative, and with or without the last
    /// slash. This deviation from RFC 7616, section 3.4.6, costs nothing here, since a nonce is valid on one connection
    /// only.
    func judge(_ header: String?, method: String, nonce: String?) -> Verdict {
        guard let header else { return .absent }
        switch AuthorizationHeader(parsing: header) {
        case .basic(let password):
            guard allowsBasic, let principal = principal(with: password) else { return .refused }
            return .accepted(principal: principal)
        case .digest(let digest):
            guard let principal = principal(of: digest, method: method) else { return .refused }
            guard let nonce, areEqual(Array(nonce.utf8), Array(digest.nonce.utf8)) else { return .stale }
            return .accepted(principal: principal)
        case nil:
            return .refused
        }
    }

    /// Checks the token in an address. Programs that take only an address have no other way to sign in.
    func judge(token: String, path: String) -> Verdict {
        addressPrincipal?(token, path).map { .accepted(principal: $0) } ?? .refused
    }

    /// Checks the token in a publisher's address; nil where no tokens are taken there.
    func judge(publisherToken token: String, path: String) -> Verdict? {
        switch addressPublisher?(token, path) {
        case .accepted(let principal): .accepted(principal: principal)
        case .forbidden(let fault): .forbidden(fault)
        case .unknown: .refused
        case nil: nil
        }
    }

    private func principal(of digest: AuthorizationHeader.Digest, method: String) -> String? {
        let response = Array(digest.response.utf8)
        let middle = digest.quality.map { "\($0.count):\($0.clientNonce):auth:" } ?? ""
        guard let request = digest.algorithm.hash("\(method):\(digest.uri)") else { return nil }
        var found: String?
        for (name, password) in principals {
            guard let secret = digest.algorithm.hash("\(digest.username):\(realm):\(password)"),
                let expected = digest.algorithm.hash("\(secret):\(digest.nonce):\(middle)\(request)")
            else { continue }
            if areEqual(Array(expected.utf8), response) { found = name }
        }
        return found
    }

    private func principal(with given: String) -> String? {
        // Digests all have the same length, so the time does not reveal the length of the password either.
        guard let given = DigestAlgorithm.sha256.hash(given) else { return nil }
        var found: String?
        for (name, password) in principals {
            guard let hash = DigestAlgorithm.sha256.hash(password) else { continue }
            if areEqual(Array(hash.utf8), Array(given.utf8)) { found = name }
        }
        return found
    }

    private func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }

    /// The values of the `WWW-Authenticate` headers, the strongest first.
    ///
    /// MD5 is the last of the digests. It is written in the order of RFC 2069, without a quality of protection: of
    /// several challenges live555 and older ffmpeg use the last digest, and live555 reads realm, nonce and stale only
    /// in this order.
    func challenges(nonce: String, isStale: Bool) -> [String] {
        let stale = isStale ? ", stale=TRUE" : ""
        var values = [
            "Digest realm=\(realm.quoted), nonce=\"\(nonce)\"\(stale), algorithm=SHA-256, qop=\"auth\"",
            "Digest realm=\(realm.quoted), nonce=\"\(nonce)\"\(stale)",
        ]
        if allowsBasic { values.append("Basic realm=\(realm.quoted)") }
        return values
    }
}

extension RTSPAuthentication: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "authentication for \(realm) (redacted)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["realm": realm]) }
}
