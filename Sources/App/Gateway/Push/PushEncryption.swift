import COpenSSL

/// Encrypts a message for a browser (RFC 8291), as one record of the encoding `aes128gcm` (RFC 8188). The push service in
/// between cannot read it.
struct PushEncryption: Sendable {
    /// What the browser has given with its subscription.
    struct Recipient: Sendable, Equatable, Codable {
        /// Its public key, an uncompressed point of P-256.
        var publicKey: [UInt8]
        /// The authentication secret, 16 bytes.
        var secret: [UInt8]
    }

    /// The largest message in bytes. Push services have to accept 4096 bytes of body (RFC 8030, section 7.2): 86 of them are
    /// the header, 16 the tag and one the delimiter.
    static let maximumLength = 4_096 - 86 - 16 - 1
    /// The size of a record, as most senders state it.
    private static let recordSize: UInt32 = 4_096

    /// The key of this message. Each message has its own.
    var key: P256Key
    /// 16 random bytes.
    var salt: [UInt8]

    /// The parameters of one message.
    init() throws(P256Key.Failure) {
        var salt = [UInt8](repeating: 0, count: 16)
        guard RAND_bytes(&salt, Int32(salt.count)) == 1 else { throw P256Key.Failure(step: "the random source") }
        self.init(key: try P256Key.make(), salt: salt)
    }

    init(key: P256Key, salt: [UInt8]) {
        self.key = key
        self.salt = salt
    }

    /// The body of the request to the push service.
    func encrypted(_ message: [UInt8], for recipient: Recipient) throws(P256Key.Failure) -> [UInt8] {
        guard message.count <= Self.maximumLength else {
            throw P256Key.Failure(step: "fitting a message into 4096 bytes")
        }
        // RFC 8291, section 3.4.
        let shared = try key.sharedSecret(with: recipient.publicKey)
        let first = Self.hmac(recipient.secret, shared)
        let info = Array("WebPush: info\0".utf8) + recipient.publicKey + key.publicKey
        let input = Self.hmac(first, info + [1])
        // RFC 8188, sections 2.2 and 2.3. The record's number is 0, so the nonce is what was derived.
        let second = Self.hmac(salt, input)
        let contentKey = Self.hmac(second, Array("Content-Encoding: aes128gcm\0".utf8) + [1]).prefix(16)
        let nonce = Self.hmac(second, Array("Content-Encoding: nonce\0".utf8) + [1]).prefix(12)
        // The delimiter of the last record (RFC 8188, section 2).
        let sealed = try Self.seal(message + [2], Array(contentKey), Array(nonce))
        let size = Self.recordSize
        return salt + [UInt8(size >> 24), UInt8(size >> 16 & 0xFF), UInt8(size >> 8 & 0xFF), UInt8(size & 0xFF)]
            + [UInt8(key.publicKey.count)] + key.publicKey + sealed
    }

    static func hmac(_ key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        var count: UInt32 = 0
        HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, &result, &count)
        return result
    }

    /// AES-128-GCM with its tag behind the text.
    private static func seal(_ text: [UInt8], _ key: [UInt8], _ nonce: [UInt8]) throws(P256Key.Failure) -> [UInt8] {
        guard let context = EVP_CIPHER_CTX_new() else { throw P256Key.Failure(step: "EVP_CIPHER_CTX_new") }
        defer { EVP_CIPHER_CTX_free(context) }
        var result = [UInt8](repeating: 0, count: text.count)
        var tag = [UInt8](repeating: 0, count: 16)
        var (count, rest): (Int32, Int32) = (0, 0)
        guard EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce) == 1,
            EVP_EncryptUpdate(context, &result, &count, text, Int32(text.count)) == 1, Int(count) == text.count,
            EVP_EncryptFinal_ex(context, nil, &rest) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, Int32(tag.count), &tag) == 1
        else { throw P256Key.Failure(step: "encrypting") }
        return result + tag
    }
}
