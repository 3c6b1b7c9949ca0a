import COpenSSL

/// A hash of a certificate, by which a session description names its side's certificate (RFC 8122).
public struct DTLSFingerprint: Hashable, Sendable {
    /// A trusted hash function for fingerprints. SHA-1, MD5 and MD2 are not trusted: RFC 8122, section 5, allows an
    /// endpoint to ignore them, and every WebRTC peer sends SHA-256.
    public enum Algorithm: String, Hashable, Sendable, CaseIterable {
        /// SHA-256, which all peers support.
        case sha256 = "sha-256"
        /// SHA-384.
        case sha384 = "sha-384"
        /// SHA-512.
        case sha512 = "sha-512"

        /// The length of a digest in bytes.
        public var byteCount: Int {
            switch self {
            case .sha256: 32
            case .sha384: 48
            case .sha512: 64
            }
        }

        var digest: OpaquePointer? {
            switch self {
            case .sha256: EVP_sha256()
            case .sha384: EVP_sha384()
            case .sha512: EVP_sha512()
            }
        }
    }

    /// The hash function.
    public let algorithm: Algorithm
    /// The digest of the certificate in DER form.
    public let bytes: [UInt8]

    /// Makes a fingerprint from the digest's bytes; nil if their number is wrong.
    public init?(algorithm: Algorithm, bytes: [UInt8]) {
        guard bytes.count == algorithm.byteCount else { return nil }
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// Reads the two parts of an `a=fingerprint` attribute, such as `sha-256` and `4A:AD:…`, in either case. Nil for a
    /// hash function that is unknown or not trusted, and for a digest of the wrong form.
    public init?(algorithm: String, text: String) {
        guard let algorithm = Algorithm(rawValue: algorithm.lowercased()) else { return nil }
        var bytes: [UInt8] = []
        for part in text.split(separator: ":", omittingEmptySubsequences: false) {
            guard part.utf8.count == 2, part.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
                let byte = UInt8(part, radix: 16)
            else { return nil }
            bytes.append(byte)
        }
        self.init(algorithm: algorithm, bytes: bytes)
    }

    /// The digest as an `a=fingerprint` attribute writes it: `4A:AD:…`.
    public var text: String {
        bytes.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return byte < 16 ? "0" + digits : digits
        }.joined(separator: ":")
    }

    /// Hashes a certificate.
    init?(of certificate: OpaquePointer, algorithm: Algorithm) {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard X509_digest(certificate, algorithm.digest, &digest, &count) == 1 else { return nil }
        self.init(algorithm: algorithm, bytes: Array(digest.prefix(Int(count))))
    }
}

extension [DTLSFingerprint] {
    /// Whether `certificate` is one that these fingerprints name.
    ///
    /// RFC 8122, section 5.1: where several hash functions are used, the strongest one counts, and the certificate must
    /// match one of its fingerprints.
    func match(_ certificate: OpaquePointer) -> Bool {
        guard let strongest = map(\.algorithm).max(by: { $0.byteCount < $1.byteCount }),
            let actual = DTLSFingerprint(of: certificate, algorithm: strongest)
        else { return false }
        return contains(actual)
    }
}
