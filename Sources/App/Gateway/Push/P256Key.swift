import COpenSSL

/// A private key on the curve P-256, as Web Push uses it: for signatures (VAPID), and to agree on a secret with a browser.
///
/// It is kept as PEM, and OpenSSL reads it for each use: a key is used a few times for a notification.
struct P256Key: Sendable, Equatable {
    /// Why a key cannot be used.
    struct Failure: Error, Sendable, CustomStringConvertible {
        var step: String
        var description: String { "\(step) failed" }
    }

    /// The length of a public key in bytes: an uncompressed point (SEC 1, section 2.3.3).
    static let publicKeyLength = 65

    /// The private key as PEM. Never print it.
    let pem: String
    /// The public key, an uncompressed point.
    let publicKey: [UInt8]

    /// Reads a key.
    init(pem: String) throws(Failure) {
        self.pem = pem
        self.publicKey = try Self.withKey(pem) { key throws(Failure) in
            guard EVP_PKEY_get_base_id(key) == EVP_PKEY_EC else { throw Failure(step: "reading an elliptic curve key") }
            var pointer: UnsafeMutablePointer<UInt8>?
            let count = EVP_PKEY_get1_encoded_public_key(key, &pointer)
            defer { CRYPTO_free(pointer, nil, 0) }
            guard count == Self.publicKeyLength, let pointer else { throw Failure(step: "reading a key of P-256") }
            return Array(UnsafeBufferPointer(start: pointer, count: count))
        }
    }

    /// Makes a key.
    static func make() throws(Failure) -> P256Key {
        guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else { throw Failure(step: "EVP_PKEY_CTX_new_id") }
        defer { EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
            EVP_PKEY_keygen(context, &made) == 1, let key = made
        else { throw Failure(step: "making a key") }
        defer { EVP_PKEY_free(key) }
        guard let bio = BIO_new(BIO_s_mem()) else { throw Failure(step: "BIO_new") }
        defer { BIO_free(bio) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        guard PEM_write_bio_PrivateKey(bio, key, nil, nil, 0, nil, nil) == 1 else { throw Failure(step: "writing PEM") }
        let count = BIO_read(bio, &bytes, Int32(bytes.count))
        guard count > 0 else { throw Failure(step: "writing PEM") }
        return try P256Key(pem: String(decoding: bytes[..<Int(count)], as: UTF8.self))
    }

    /// The secret that this key and another one share (SEC 1, section 3.3.1): the X coordinate, 32 bytes.
    /// - Parameter other: a public key of somebody else, which may be anything.
    /// - Throws: also for bytes that are not a point of the curve.
    func sharedSecret(with other: [UInt8]) throws(Failure) -> [UInt8] {
        guard other.count == Self.publicKeyLength else { throw Failure(step: "reading the public key of the browser") }
        return try Self.withKey(pem) { key throws(Failure) in
            guard let peer = EVP_PKEY_new() else { throw Failure(step: "EVP_PKEY_new") }
            defer { EVP_PKEY_free(peer) }
            // OpenSSL checks that the point is on the curve.
            guard EVP_PKEY_copy_parameters(peer, key) == 1,
                EVP_PKEY_set1_encoded_public_key(peer, other, other.count) == 1
            else { throw Failure(step: "reading the public key of the browser") }
            guard let context = EVP_PKEY_CTX_new(key, nil) else { throw Failure(step: "EVP_PKEY_CTX_new") }
            defer { EVP_PKEY_CTX_free(context) }
            var secret = [UInt8](repeating: 0, count: 32)
            var count = secret.count
            guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, peer) == 1,
                EVP_PKEY_derive(context, &secret, &count) == 1, count == secret.count
            else { throw Failure(step: "agreeing on a secret") }
            return secret
        }
    }

    /// The signature of bytes with SHA-256 as two numbers of 32 bytes (RFC 7518, section 3.4).
    func signature(of bytes: [UInt8]) throws(Failure) -> [UInt8] {
        let encoded = try Self.withKey(pem) { key throws(Failure) -> [UInt8] in
            guard let context = EVP_MD_CTX_new() else { throw Failure(step: "EVP_MD_CTX_new") }
            defer { EVP_MD_CTX_free(context) }
            var count = 0
            guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
                EVP_DigestSign(context, nil, &count, bytes, bytes.count) == 1
            else { throw Failure(step: "signing") }
            var signature = [UInt8](repeating: 0, count: count)
            guard EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1 else {
                throw Failure(step: "signing")
            }
            return Array(signature.prefix(count))
        }
        guard let raw = Self.numbers(ofSignature: encoded) else { throw Failure(step: "reading the signature") }
        return raw
    }

    /// The two numbers of a signature (RFC 3279, section 2.2.3: a DER sequence of two integers), each with 32 bytes.
    static func numbers(ofSignature der: [UInt8]) -> [UInt8]? {
        // A signature of P-256 is shorter than 128 bytes, so every length is one byte.
        guard der.count > 6, der[0] == 0x30, Int(der[1]) == der.count - 2 else { return nil }
        var result: [UInt8] = []
        var place = 2
        for _ in 0..<2 {
            guard place + 2 <= der.count, der[place] == 0x02 else { return nil }
            let end = place + 2 + Int(der[place + 1])
            guard end <= der.count else { return nil }
            let number = der[place + 2..<end].drop { $0 == 0 }
            guard number.count <= 32 else { return nil }
            result += [UInt8](repeating: 0, count: 32 - number.count) + number
            place = end
        }
        return place == der.count ? result : nil
    }

    private static func withKey<Result>(
        _ pem: String, _ body: (OpaquePointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // The BIO points into the bytes, so it must not outlive the closure.
        let bytes = Array(pem.utf8)
        let key = bytes.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { BIO_free(bio) }
            return PEM_read_bio_PrivateKey(bio, nil, nil, nil)
        }
        guard let key else { throw Failure(step: "reading the key") }
        defer { EVP_PKEY_free(key) }
        return try body(key)
    }
}
