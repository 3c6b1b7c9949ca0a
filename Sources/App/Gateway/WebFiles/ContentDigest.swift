import COpenSSL

/// SHA-256 of bytes that come in parts, cut to 64 bits.
final class ContentDigest {
    private let context: OpaquePointer

    /// Begins with no bytes.
    init() {
        // Fails only without memory, where Swift's own allocations end the process as well.
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            fatalError("there is no memory for a digest")
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Adds the next bytes, and keeps no copy of them.
    func add(_ bytes: UnsafeRawBufferPointer) { _ = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) }

    /// Adds the next bytes.
    func add(_ bytes: [UInt8]) { _ = EVP_DigestUpdate(context, bytes, bytes.count) }

    /// The digest in 16 hexadecimal digits. Nothing can be added after it.
    func finish() -> String {
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        _ = EVP_DigestFinal_ex(context, &digest, nil)
        return digest.prefix(8).map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
    }
}
