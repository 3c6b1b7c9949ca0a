import Transport

/// The messages that open an RTSP connection inside HTTP: one GET whose answer never ends, and one POST whose body
/// never ends and carries the client's side in Base64. No RFC describes it; it comes from Apple's QuickTime, and
/// cameras support it to pass through firewalls.
public struct RTSPTunnel: Sendable {
    private let url: RTSPURL
    /// Shows the server that the two connections belong together.
    private let cookie: String
    private var authorization: Authorization?
    /// Whether the password itself is never sent (Basic), because the camera is known to accept Digest.
    private let refusesBasic: Bool
    private let hashes: Set<DigestAlgorithm>
    /// Whether the camera has opened the tunnel after a request with Digest.
    public private(set) var hasTakenDigest = false

    /// A tunnel to `url`. `hashes` are those with which Digest can be answered, and `random` makes the cookie.
    public init(
        url: RTSPURL, refusesBasic: Bool = false, hashes: Set<DigestAlgorithm> = DigestAlgorithm.available,
        random: inout RandomSource
    ) {
        self.url = url
        self.refusesBasic = refusesBasic
        self.hashes = hashes
        let digits = [random.next(), random.next()].map { String($0, radix: 16) }
        cookie = digits.joined().prefixPadded(to: 22)
    }

    /// The port of the tunnel: that of the address, or HTTP's default.
    public static func port(of url: RTSPURL) -> UInt16 {
        url.namesPort ? url.port : url.isSecure ? 443 : 80
    }

    /// The request whose answer carries what the camera sends.
    public mutating func get() -> [UInt8] {
        head("GET", ["Accept: application/x-rtsp-tunnelled"])
    }

    /// The request whose body carries what the client sends. Its length is a fiction that QuickTime introduced; servers
    /// read on.
    public mutating func post() -> [UInt8] {
        head(
            "POST",
            [
                "Content-Type: application/x-rtsp-tunnelled", "Content-Length: 32767",
                "Expires: Sun, 9 Jan 1972 00:00:00 GMT",
            ])
    }

    /// The client's bytes as the POST's body carries them.
    public static func encode(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        Array(Base64.encode(Array(bytes)).utf8)
    }

    private mutating func head(_ method: String, _ fields: [String]) -> [UInt8] {
        let path = url.path.isEmpty ? "/" : url.path
        let name = url.host.contains(":") ? "[\(url.host)]" : url.host
        var lines = [
            "\(method) \(path) HTTP/1.0", "Host: \(name):\(Self.port(of: url))", "User-Agent: Gatehouse",
            "x-sessioncookie: \(cookie)", "Pragma: no-cache", "Cache-Control: no-cache",
        ]
        lines += fields
        if let value = authorization?.header(method: method, uri: path) { lines.append("Authorization: \(value)") }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    // MARK: The answer

    /// What the answer to the GET says.
    public enum Answer: Equatable, Sendable {
        /// More bytes are needed.
        case incomplete
        /// The tunnel is open; what follows the first `headLength` bytes is RTSP.
        case open(headLength: Int)
        /// The server asks for credentials: connect again, and send ``RTSPTunnel/get()`` again.
        case authenticate
    }

    /// The most bytes in the answer's head.
    static let maximumHeadSize = 16 * 1024

    /// Reads the beginning of the answer to the GET.
    public mutating func handle(_ bytes: [UInt8], random: inout RandomSource) throws(RTSPError) -> Answer {
        guard let length = Self.headLength(bytes) else {
            if bytes.count > Self.maximumHeadSize { throw .tooLarge(what: "headers", limit: Self.maximumHeadSize) }
            return .incomplete
        }
        let lines = bytes[..<length].split(separator: UInt8(ascii: "\n")).map { line in
            Substring(String(decoding: line, as: UTF8.self))
        }
        let words = (lines.first ?? "").split(separator: " ")
        guard words.count >= 2, words[0].hasPrefixIgnoringCase("HTTP/"), let status = Int(words[1].trimmedASCII) else {
            throw .malformedMessage(.tunnelStatusLine)
        }
        if status == 200 {
            if let authorization { hasTakenDigest = authorization.challenge.scheme != .basic }
            return .open(headLength: length)
        }
        guard status == 401 else { throw .tunnelRefused(status: status) }
        let offered = Challenge.list(RTSPHeaders(lines: lines.dropFirst()).all("WWW-Authenticate"))
        guard let credentials = url.credentials else { throw .unauthorized(.credentialsMissing) }
        guard authorization == nil else { throw .unauthorized(.credentialsRefused) }
        let answerable = Challenge.answerable(offered, with: hashes, mayShowPassword: url.isSecure)
        guard let challenge = answerable.first(where: { !refusesBasic || $0.scheme != .basic }) else {
            throw .unauthorized(
                offered.isEmpty ? .methodUnsupported : answerable.isEmpty ? .hashUnavailable : .passwordWithheld)
        }
        authorization = Authorization(challenge: challenge, credentials: credentials, random: &random)
        return .authenticate
    }

    private static func headLength(_ bytes: [UInt8]) -> Int? {
        var index = 0
        while index < min(bytes.count, maximumHeadSize) {
            if bytes[index] == 0x0A {
                if index + 1 < bytes.count, bytes[index + 1] == 0x0A { return index + 2 }
                if index + 2 < bytes.count, bytes[index + 1] == 0x0D, bytes[index + 2] == 0x0A { return index + 3 }
            }
            index += 1
        }
        return nil
    }
}

extension String {
    /// The first `count` characters, with zeros where there are fewer.
    fileprivate func prefixPadded(to count: Int) -> String {
        String((self + String(repeating: "0", count: count)).prefix(count))
    }
}
