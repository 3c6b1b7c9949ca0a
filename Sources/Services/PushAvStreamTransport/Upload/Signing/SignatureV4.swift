import Transport

/// Signs requests as Amazon S3 and compatible stores expect (AWS General Reference, "Signature Version 4 signing
/// process"; Amazon S3 API Reference, "Authenticating Requests: Using the Authorization Header").
public struct SignatureV4: Sendable {
    /// The key that signs.
    public struct Credentials: Codable, Hashable, Sendable {
        /// The public part.
        public var accessKeyID: String
        /// The secret part.
        public var secretAccessKey: String
        /// The token of temporary credentials; nil for lasting ones.
        public var sessionToken: String?

        /// Names who signs.
        public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
            self.accessKeyID = accessKeyID
            self.secretAccessKey = secretAccessKey
            self.sessionToken = sessionToken
        }
    }

    /// The key that signs.
    public var credentials: Credentials
    /// The region, for example `eu-central-1`. Stores outside of Amazon often take any.
    public var region: String
    /// The service: `s3` for stores.
    public var service: String

    /// Describes a signer.
    public init(credentials: Credentials, region: String, service: String = "s3") {
        self.credentials = credentials
        self.region = region
        self.service = service
    }

    /// The hash of a body, as it is signed and sent in `x-amz-content-sha256`.
    public static func hash(of body: [UInt8]) -> String { Digest.hexadecimal(Digest.sha256(body)) }

    /// The headers to add to a request: those that date it and name its body, and `authorization`.
    /// - Parameters:
    ///   - path: the path as in the request, with its percent-encoding.
    ///   - query: the decoded names and values of the query.
    ///   - headers: the headers that are signed, `host` among them. The names are in lower case.
    ///   - payloadHash: the body's hash in hexadecimal digits.
    ///   - time: the time of the request. Stores accept a quarter of an hour of difference.
    public func headers(
        method: String, path: String, query: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)], payloadHash: String, at time: WallTime
    ) -> [(name: String, value: String)] {
        let stamp = Self.stamp(time)
        var added: [(name: String, value: String)] = [("x-amz-date", stamp)]
        if service == "s3" { added.append(("x-amz-content-sha256", payloadHash)) }
        if let token = credentials.sessionToken { added.append(("x-amz-security-token", token)) }
        let signed = (headers + added).sorted { $0.name < $1.name }
        let names = signed.map(\.name).joined(separator: ";")
        let canonical = [
            method, Self.canonicalPath(path), Self.canonicalQuery(query),
            signed.map { "\($0.name):\(Self.collapsed($0.value))\n" }.joined(), names, payloadHash,
        ].joined(separator: "\n")
        let day = String(stamp.prefix(8))
        let scope = "\(day)/\(region)/\(service)/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(stamp)\n\(scope)\n\(Self.hash(of: Array(canonical.utf8)))"
        let signature = Digest.hexadecimal(Digest.hmac(signingKey(day: day), Array(text.utf8)))
        added.append(
            (
                "authorization",
                "AWS4-HMAC-SHA256 Credential=\(credentials.accessKeyID)/\(scope), SignedHeaders=\(names), "
                    + "Signature=\(signature)"
            ))
        return added
    }

    private func signingKey(day: String) -> [UInt8] {
        var key = Array("AWS4\(credentials.secretAccessKey)".utf8)
        for part in [day, region, service, "aws4_request"] { key = Digest.hmac(key, Array(part.utf8)) }
        return key
    }

    /// For example `20150830T123600Z`.
    static func stamp(_ time: WallTime) -> String {
        time.iso8601.prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
    }

    /// The path with each character encoded exactly once. S3 takes it as it is: it neither removes dots nor encodes twice.
    static func canonicalPath(_ path: String) -> String {
        path.isEmpty ? "/" : encode(decode(path), keepsSlash: true)
    }

    static func canonicalQuery(_ query: [(name: String, value: String)]) -> String {
        query.map { (encode(Array($0.name.utf8)), encode(Array($0.value.utf8))) }
            .sorted { $0.0 == $1.0 ? $0.1 < $1.1 : $0.0 < $1.0 }
            .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    /// Spaces around a value are ignored, and several in a row are treated as one.
    private static func collapsed(_ value: String) -> String {
        value.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
    }

    private static func encode(_ bytes: [UInt8], keepsSlash: Bool = false) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for byte in bytes {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: encoded.append(byte)
            case 0x2F where keepsSlash: encoded.append(byte)
            default: encoded += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static func decode(_ path: String) -> [UInt8] {
        let bytes = Array(path.utf8)
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0x25, index + 2 < bytes.count, let high = digit(bytes[index + 1]),
                let low = digit(bytes[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return decoded
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
