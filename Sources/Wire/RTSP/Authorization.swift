import Transport

/// Answers a camera's challenge, request after request (RFC 7616, RFC 7617).
public struct Authorization: Sendable {
    /// The challenge that is answered.
    public let challenge: Challenge
    private let credentials: RTSPCredentials
    private var nonceCount: UInt32 = 0
    private var clientNonce: String

    /// Answers `challenge` with `credentials`. `random` makes the client's nonce.
    public init(challenge: Challenge, credentials: RTSPCredentials, random: inout RandomSource) {
        self.challenge = challenge
        self.credentials = credentials
        let value = random.next()
        let digits = String(value, radix: 16)
        clientNonce = String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Uses the given client nonce, for the vectors of the RFCs.
    init(challenge: Challenge, credentials: RTSPCredentials, clientNonce: String) {
        self.challenge = challenge
        self.credentials = credentials
        self.clientNonce = clientNonce
    }

    /// The value of the `Authorization` header for one request; nil where libcrypto refuses the hash.
    public mutating func header(method: String, uri: String, body: [UInt8] = []) -> String? {
        switch challenge.scheme {
        case .basic:
            return "Basic " + Base64.encode(Array("\(credentials.user):\(credentials.password)".utf8))
        case .digest(let algorithm, let isSession):
            return digest(algorithm, isSession: isSession, method: method, uri: uri, body: body)
        }
    }

    private mutating func digest(
        _ algorithm: DigestAlgorithm, isSession: Bool, method: String, uri: String, body: [UInt8]
    ) -> String? {
        let quality = challenge.qualities.contains("auth") ? "auth" : challenge.qualities.first { $0 == "auth-int" }
        nonceCount &+= 1
        let count = String(nonceCount, radix: 16)
        let paddedCount = String(repeating: "0", count: 8 - count.count) + count
        let first = "\(credentials.user):\(challenge.realm):\(credentials.password)"
        guard var secret = algorithm.hash(first) else { return nil }
        if isSession {
            guard let session = algorithm.hash("\(secret):\(challenge.nonce):\(clientNonce)") else { return nil }
            secret = session
        }
        var second = "\(method):\(uri)"
        if quality == "auth-int" {
            guard let bodyHash = algorithm.hash(String(decoding: body, as: UTF8.self)) else { return nil }
            second += ":\(bodyHash)"
        }
        guard let request = algorithm.hash(second) else { return nil }
        let middle = quality.map { "\(paddedCount):\(clientNonce):\($0):" } ?? ""
        guard let response = algorithm.hash("\(secret):\(challenge.nonce):\(middle)\(request)") else { return nil }

        var header = "Digest username=\(credentials.user.quoted), realm=\(challenge.realm.quoted)"
        header += ", nonce=\(challenge.nonce.quoted), uri=\(uri.quoted), response=\"\(response)\""
        // An algorithm that the server did not name confuses servers of RFC 2069. A missing algorithm means MD5.
        if algorithm != .md5 || isSession || quality != nil {
            header += ", algorithm=\(algorithm.rawValue)\(isSession ? "-sess" : "")"
        }
        if let quality { header += ", qop=\(quality), nc=\(paddedCount), cnonce=\"\(clientNonce)\"" }
        if isSession, quality == nil { header += ", cnonce=\"\(clientNonce)\"" }
        if let opaque = challenge.opaque { header += ", opaque=\(opaque.quoted)" }
        return header
    }
}

extension Authorization: CustomStringConvertible, CustomReflectable {
    public var description: String { "authorization for \(challenge.realm)" }
    public var customMirror: Mirror { Mirror(self, children: ["realm": challenge.realm]) }
}
