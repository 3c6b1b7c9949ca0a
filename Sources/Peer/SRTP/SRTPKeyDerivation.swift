import COpenSSL

/// The session keys that one kind of packet needs in either direction.
struct SRTPSessionKeys {
    /// Encrypts.
    var encryption: [UInt8]
    /// Authenticates; empty where the cipher does both.
    var authentication: [UInt8]
    /// Mixed into each initialisation vector.
    var salt: [UInt8]
}

/// What a session key is for (RFC 3711, section 4.3.2).
enum SRTPKeyLabel: UInt8 {
    case rtpEncryption = 0
    case rtpAuthentication = 1
    case rtpSalt = 2
    case rtcpEncryption = 3
    case rtcpAuthentication = 4
    case rtcpSalt = 5
}

/// The key derivation of RFC 3711, section 4.3, with a key derivation rate of zero: the keys never change.
struct SRTPKeyDerivation: ~Copyable {
    private let context: OpaquePointer
    private let salt: [UInt8]
    private let profile: SRTPProfile

    init(profile: SRTPProfile, masterKey: [UInt8], masterSalt: [UInt8]) throws(SRTPError) {
        guard masterKey.count == profile.masterKeyLength, masterSalt.count == profile.masterSaltLength else {
            throw .wrongKeyLength(profile: profile, key: masterKey.count, salt: masterSalt.count)
        }
        guard let context = EVP_CIPHER_CTX_new() else { throw .cryptographicFailure("EVP_CIPHER_CTX_new") }
        guard EVP_EncryptInit_ex(context, EVP_aes_128_ctr(), nil, masterKey, nil) == 1 else {
            EVP_CIPHER_CTX_free(context)
            throw .cryptographicFailure("EVP_EncryptInit_ex")
        }
        self.context = context
        self.profile = profile
        // RFC 7714, section 11: a salt of 96 bits is padded on the right to the 112 bits that the derivation needs.
        self.salt = masterSalt + [UInt8](repeating: 0, count: 14 - masterSalt.count)
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
    }

    func derive(_ label: SRTPKeyLabel, count: Int) throws(SRTPError) -> [UInt8] {
        var vector = salt + [0, 0]
        vector[7] ^= label.rawValue
        let zeros = [UInt8](repeating: 0, count: count)
        var key = zeros
        var written: Int32 = 0
        guard EVP_EncryptInit_ex(context, nil, nil, nil, vector) == 1,
            EVP_EncryptUpdate(context, &key, &written, zeros, Int32(count)) == 1, written == Int32(count)
        else { throw .cryptographicFailure("EVP_EncryptUpdate in the key derivation") }
        return key
    }

    func rtpKeys() throws(SRTPError) -> SRTPSessionKeys {
        SRTPSessionKeys(
            encryption: try derive(.rtpEncryption, count: profile.masterKeyLength),
            authentication: profile == .aeadAES128GCM ? [] : try derive(.rtpAuthentication, count: 20),
            salt: try derive(.rtpSalt, count: profile.masterSaltLength))
    }

    func rtcpKeys() throws(SRTPError) -> SRTPSessionKeys {
        SRTPSessionKeys(
            encryption: try derive(.rtcpEncryption, count: profile.masterKeyLength),
            authentication: profile == .aeadAES128GCM ? [] : try derive(.rtcpAuthentication, count: 20),
            salt: try derive(.rtcpSalt, count: profile.masterSaltLength))
    }
}
