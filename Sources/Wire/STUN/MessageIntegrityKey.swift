import COpenSSL

/// A password, prepared for making and checking MESSAGE-INTEGRITY: HMAC-SHA1 with both pads hashed once
/// (RFC 8489, section 14.5).
///
/// The key owns its OpenSSL context (about a kibibyte) and so it cannot be copied.
// Proof for @unchecked: the context is reachable only through this value, which cannot be copied. Only mutating methods
// use it, and these need exclusive access. So the value may move between threads.
public struct MessageIntegrityKey: ~Copyable, @unchecked Sendable {
    /// The length of the digest in bytes.
    public static let digestLength = 20

    /// Nil when OpenSSL refused; such a key makes no digest and verifies none.
    private let context: OpaquePointer?
    private let beginsAgain: Bool

    /// Whether OpenSSL can begin a MAC again with the same key. Before 3.0.3 it did nothing and said that it had done
    /// so, and the second digest was wrong. Ubuntu 22.04 has 3.0.2.
    static let opensslBeginsAgain = OpenSSL_version_num() >= 0x3000_0030

    /// Prepares `password`: the bytes of the ICE password (short-term credentials, RFC 8489, section 9.1.1), or the
    /// MD5 of user, realm and password (long-term credentials, section 9.2.2).
    public init(_ password: UnsafeRawBufferPointer) {
        context = Self.makeContext(password)
        beginsAgain = Self.opensslBeginsAgain
    }

    /// A key that makes no digest and verifies none, for a password that is not known yet.
    public init() {
        context = nil
        beginsAgain = true
    }

    /// Prepares the UTF-8 bytes of `password`.
    public init(_ password: String) {
        self.init(password, beginsAgain: Self.opensslBeginsAgain)
    }

    /// With `beginsAgain` false, each digest begins with a copy of the context, which costs a few allocations.
    init(_ password: String, beginsAgain: Bool) {
        var password = password
        context = password.withUTF8 { Self.makeContext(UnsafeRawBufferPointer($0)) }
        self.beginsAgain = beginsAgain
    }

    deinit {
        EVP_MAC_CTX_free(context)
    }

    private static func makeContext(_ password: UnsafeRawBufferPointer) -> OpaquePointer? {
        guard let algorithm = EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
        // The context holds its own reference to the algorithm.
        defer { EVP_MAC_free(algorithm) }
        guard let context = EVP_MAC_CTX_new(algorithm) else { return nil }
        // OpenSSL reads a null key as "keep the old one", so an empty password needs some address.
        let isReady = withUnsafeTemporaryAllocation(byteCount: max(password.count, 1), alignment: 1) { key in
            if !password.isEmpty { key.copyMemory(from: password) }
            // OpenSSL keeps these pointers in the parameters: a Swift string's bytes would be freed before it uses
            // them.
            let nameKey: StaticString = "digest"
            let name: StaticString = "SHA1"
            var parameters = [
                OSSL_PARAM_construct_utf8_string(
                    UnsafeRawPointer(nameKey.utf8Start).assumingMemoryBound(to: CChar.self),
                    UnsafeMutableRawPointer(mutating: name.utf8Start).assumingMemoryBound(to: CChar.self), 0),
                OSSL_PARAM_construct_end(),
            ]
            let bytes = key.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return EVP_MAC_init(context, bytes, password.count, &parameters) == 1
        }
        guard isReady else {
            EVP_MAC_CTX_free(context)
            return nil
        }
        return context
    }

    /// Writes the digest of `message`, the bytes before the attribute, with `lengthField` in place of the header's
    /// length. Returns false when OpenSSL failed; `output` is then undefined.
    mutating func digest(
        _ message: UnsafeRawBufferPointer, lengthField: UInt16, into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard let keyed = context, message.count >= 4, output.count >= Self.digestLength,
            let start = message.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { return false }
        let copy = beginsAgain ? nil : EVP_MAC_CTX_dup(keyed)
        defer { EVP_MAC_CTX_free(copy) }
        let context = copy ?? keyed
        guard beginsAgain ? EVP_MAC_init(context, nil, 0, nil) == 1 : copy != nil else { return false }
        var length = lengthField.bigEndian
        let updated = withUnsafeBytes(of: &length) { field in
            EVP_MAC_update(context, start, 2) == 1
                && EVP_MAC_update(context, field.baseAddress?.assumingMemoryBound(to: UInt8.self), 2) == 1
                && EVP_MAC_update(context, start + 4, message.count - 4) == 1
        }
        var written = 0
        let bytes = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return updated && EVP_MAC_final(context, bytes, &written, output.count) == 1 && written == Self.digestLength
    }
}
