import COpenSSL

/// SHA-256 and its message authentication code.
enum Digest {
    /// The hash of some bytes.
    static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        SHA256(bytes, bytes.count, &digest)
        return digest
    }

    /// HMAC-SHA-256 (RFC 2104).
    static func hmac(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        var length = UInt32(code.count)
        HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &code, &length)
        return code
    }

    /// Lower-case hexadecimal digits.
    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
