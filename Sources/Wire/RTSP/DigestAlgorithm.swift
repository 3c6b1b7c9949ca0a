import COpenSSL

/// A hash of Digest authentication (RFC 7616, section 3.3).
public enum DigestAlgorithm: String, Sendable, CaseIterable {
    /// Nearly every camera uses it. It is broken for signatures, but most cameras offer no other.
    case md5 = "MD5"
    case sha256 = "SHA-256"
    /// The first 256 bits of SHA-512 with its own initial values.
    case sha512Truncated = "SHA-512-256"

    /// Those that libcrypto has here. The rules of FIPS take MD5 away.
    public static let available = Set(allCases.filter { $0.hash("") != nil })

    /// The hash of `text` in hexadecimal; nil where libcrypto refuses the algorithm, as it does MD5 under FIPS rules.
    func hash(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        let type =
            switch self {
            case .md5: EVP_md5()
            case .sha256: EVP_sha256()
            case .sha512Truncated: EVP_sha512_256()
            }
        guard EVP_Digest(bytes, bytes.count, &digest, &count, type, nil) == 1 else { return nil }
        let digits = Array("0123456789abcdef".utf8)
        let text = digest.prefix(Int(count)).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
