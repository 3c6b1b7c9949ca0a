/// One way to show who one is, as a `WWW-Authenticate` header offers it (RFC 7235, section 4.1).
public struct Challenge: Equatable, Sendable {
    /// A scheme that the client speaks.
    public enum Scheme: Equatable, Sendable {
        /// RFC 7617: the password itself, merely encoded.
        case basic
        /// RFC 7616 and RFC 2617.
        case digest(DigestAlgorithm, isSession: Bool)
    }

    /// The scheme.
    public var scheme: Scheme
    /// What the credentials are for.
    public var realm: String
    /// The server's nonce; empty for Basic.
    public var nonce: String
    /// What the server wants back unchanged.
    public var opaque: String?
    /// The qualities of protection that the server offers, in lower case; empty for RFC 2069 servers.
    public var qualities: [String]
    /// Whether only the nonce was too old, and the credentials were right.
    public var isStale: Bool

    /// The offers of every `WWW-Authenticate` line that the client can answer, the strongest first: SHA-512-256,
    /// SHA-256, MD5, Basic.
    ///
    /// Several offers in one line are separated; an unknown scheme or algorithm is left out.
    public static func list(_ headerValues: [String]) -> [Challenge] {
        var challenges: [Challenge] = []
        for value in headerValues {
            var scheme: String?
            var parameters: [String: String] = [:]
            func finish() {
                if let scheme, let challenge = Challenge(scheme: scheme, parameters: parameters) {
                    challenges.append(challenge)
                }
                parameters.removeAll()
            }
            for piece in value.splitOutsideQuotes(UInt8(ascii: ",")) {
                // A new offer begins where a word comes before the first parameter's name.
                var parameter = piece.trimmedASCII
                let (beforeEquals, _) = parameter.cut(at: "=")
                let (word, remainder) = beforeEquals.trimmedASCII.cut(at: " ")
                if remainder != nil || !parameter.contains("=") {
                    finish()
                    scheme = word.lowercased()
                    parameter = parameter.dropFirst(word.count).trimmedASCII
                }
                let (name, content) = parameter.cut(at: "=")
                if let content { parameters[name.trimmedASCII.lowercased()] = content.unquoted }
            }
            finish()
        }
        return challenges.enumerated().sorted { left, right in
            (left.element.strength, -left.offset) > (right.element.strength, -right.offset)
        }.map(\.element)
    }

    /// The reason that is reported when a camera that accepts Digest asks for the password itself.
    ///
    /// A host between the gateway and a camera can answer in its place and ask for Basic: the password would then
    /// be read by them. A weaker hash is not refused: no attack on MD5 finds a password from its Digest sooner than
    /// guessing does, and a firmware may well offer another hash than the one before.
    public static let withheldReason =
        "the camera asks for the password in clear text (Basic), although it accepted Digest before, so the password "
        + "is not sent: somebody may be answering in the camera's place. If the camera was reset or replaced, tell the "
        + "gateway to reconnect it"

    /// The reason that is reported when a camera offers only hashes that libcrypto refuses here.
    public static let hashUnavailableReason =
        "the camera asks for Digest with MD5, which the cryptography of this machine refuses (FIPS), so the password is not "
        + "sent. Turn on Digest with SHA-256 in the camera, or run the gateway where MD5 is permitted"

    /// Those of `offered` that can be answered with the hashes that libcrypto has.
    ///
    /// A camera that offers a Digest and Basic is not sent the password itself only because the hash is missing, unless it
    /// `mayShowPassword`.
    public static func answerable(
        _ offered: [Challenge], with hashes: Set<DigestAlgorithm> = DigestAlgorithm.available, mayShowPassword: Bool
    ) -> [Challenge] {
        let answerable = offered.filter { challenge in
            guard case .digest(let algorithm, _) = challenge.scheme else { return true }
            return hashes.contains(algorithm)
        }
        let lacksHash = answerable.count < offered.count
        return lacksHash && !mayShowPassword ? answerable.filter { $0.scheme != .basic } : answerable
    }

    private init?(scheme: String, parameters: [String: String]) {
        // The answer repeats them, and no challenge may end a line of it.
        guard parameters.values.allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }) else { return nil }
        switch scheme {
        case "basic":
            self.scheme = .basic
        case "digest":
            var name = parameters["algorithm"]?.uppercased() ?? "MD5"
            let isSession = name.hasSuffix("-SESS")
            if isSession { name = String(name.dropLast(5)) }
            guard let algorithm = DigestAlgorithm(rawValue: name), parameters["nonce"] != nil else { return nil }
            self.scheme = .digest(algorithm, isSession: isSession)
        default:
            return nil
        }
        realm = parameters["realm"] ?? ""
        nonce = parameters["nonce"] ?? ""
        opaque = parameters["opaque"]
        qualities = (parameters["qop"] ?? "").split(separator: ",").map { $0.trimmedASCII.lowercased() }
        isStale = parameters["stale"]?.lowercased() == "true"
    }

    private var strength: Int {
        switch scheme {
        case .basic: 0
        case .digest(.md5, _): 1
        case .digest(.sha256, _): 2
        case .digest(.sha512Truncated, _): 3
        }
    }

    /// The scheme in words, as `Digest SHA-256-sess`.
    public var name: String {
        switch scheme {
        case .basic: "Basic"
        case .digest(let algorithm, let isSession): "Digest \(algorithm.rawValue)\(isSession ? "-sess" : "")"
        }
    }
}
