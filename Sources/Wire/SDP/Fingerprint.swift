/// The hash of a certificate: `a=fingerprint` (RFC 8122).
public struct Fingerprint: Hashable, Sendable {
    /// The hash function in lower case, for example `sha-256`.
    public let algorithm: String
    /// The hash.
    public let bytes: [UInt8]

    /// Describes a hash; `algorithm` is converted to lower case.
    public init(algorithm: String, bytes: [UInt8]) {
        self.algorithm = algorithm.lowercased()
        self.bytes = bytes
    }

    /// Reads `sha-256 AA:BB:…`. Nil where the length does not fit a known hash function.
    public init?(parsing value: String) {
        let words = value.words
        guard words.count == 2 else { return nil }
        var bytes: [UInt8] = []
        for part in words[1].parts(separatedBy: ":") {
            let digits = part.utf8.compactMap(\.hexadecimalDigit)
            guard digits.count == 2, part.utf8.count == 2, bytes.count < 64 else { return nil }
            bytes.append(digits[0] << 4 | digits[1])
        }
        self.init(algorithm: String(words[0]), bytes: bytes)
        if let length = Self.lengths[algorithm], length != bytes.count { return nil }
    }

    /// The value of the attribute, with upper-case digits as RFC 8122 requires.
    public var text: String { "\(algorithm) \(bytes.map(hexadecimal).joined(separator: ":"))" }

    /// Whether the hash is strong enough to authenticate a peer: SHA-256 or longer.
    public var isStrong: Bool { ["sha-256", "sha-384", "sha-512"].contains(algorithm) }

    private static let lengths = [
        "md5": 16, "sha-1": 20, "sha-224": 28, "sha-256": 32, "sha-384": 48, "sha-512": 64,
    ]
}
