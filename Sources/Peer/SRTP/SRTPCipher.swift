import COpenSSL

/// The cipher and authentication of one session key, for one direction and for either RTP or RTCP.
///
/// The OpenSSL context is made once. A packet only sets the initialisation vector, and allocates nothing.
struct SRTPCipher: ~Copyable {
    enum Direction {
        case encrypt
        case decrypt
    }

    let profile: SRTPProfile
    private let context: OpaquePointer
    /// The session salt's first 8 bytes, as an integer.
    private let saltHigh: UInt64
    /// The rest of the session salt, in the low bits: 32 of them for GCM, 48 for counter mode.
    private let saltLow: UInt64
    private let authentication: HMACSHA1

    init(profile: SRTPProfile, keys: SRTPSessionKeys, direction: Direction) throws(SRTPError) {
        guard keys.salt.count == profile.masterSaltLength, keys.encryption.count == profile.masterKeyLength else {
            throw .wrongKeyLength(profile: profile, key: keys.encryption.count, salt: keys.salt.count)
        }
        guard let context = EVP_CIPHER_CTX_new() else { throw .cryptographicFailure("EVP_CIPHER_CTX_new") }
        let cipher = profile == .aeadAES128GCM ? FetchedCiphers.shared.gcm : FetchedCiphers.shared.counter
        // Counter mode is its own inverse: both directions encrypt the counter.
        let encrypts: Int32 = profile == .aeadAES128GCM && direction == .decrypt ? 0 : 1
        guard EVP_CipherInit_ex(context, cipher, nil, keys.encryption, nil, encrypts) == 1 else {
            EVP_CIPHER_CTX_free(context)
            throw .cryptographicFailure("EVP_CipherInit_ex")
        }
        self.context = context
        self.profile = profile
        self.saltHigh = keys.salt[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
        self.saltLow = keys.salt[8...].reduce(0) { $0 << 8 | UInt64($1) }
        self.authentication = HMACSHA1(key: keys.authentication)
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
    }

    /// Encrypts or decrypts `count` bytes with AES-GCM, having authenticated `header` and `trailer`. Sealing then reads
    /// the tag with ``readTag(into:)``; opening has set it with ``expectTag(_:)``, after ``start(source:index:)``.
    mutating func process(
        header: UnsafeRawBufferPointer, trailer: UnsafeRawBufferPointer? = nil, from source: UnsafeRawPointer?,
        to destination: UnsafeMutableRawPointer?, count: Int
    ) -> Bool {
        var written: Int32 = 0
        guard
            EVP_CipherUpdate(
                context, nil, &written, header.baseAddress?.assumingMemoryBound(to: UInt8.self),
                Int32(truncatingIfNeeded: header.count)) == 1
        else { return false }
        if let trailer {
            guard
                EVP_CipherUpdate(
                    context, nil, &written, trailer.baseAddress?.assumingMemoryBound(to: UInt8.self),
                    Int32(truncatingIfNeeded: trailer.count)) == 1
            else { return false }
        }
        if count > 0 {
            guard crypt(from: source, to: destination, count: count) else { return false }
        }
        // GCM has no padding, so the final step writes nothing; it makes or checks the tag.
        var nothing: UInt64 = 0
        return withUnsafeMutableBytes(of: &nothing) { bytes in
            EVP_CipherFinal_ex(context, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), &written) == 1
        }
    }

    /// Encrypts or decrypts `count` bytes, in place or from one place to another, with the running key stream.
    mutating func crypt(
        from source: UnsafeRawPointer?, to destination: UnsafeMutableRawPointer?, count: Int
    ) -> Bool {
        var written: Int32 = 0
        return EVP_CipherUpdate(
            context, destination?.assumingMemoryBound(to: UInt8.self), &written,
            source?.assumingMemoryBound(to: UInt8.self), Int32(truncatingIfNeeded: count)) == 1
    }

    /// Sets the initialisation vector of the packet `index` of a source: for RTP the rollover counter and the sequence
    /// number (48 bits), for RTCP the SRTCP index (31 bits). The two formulas give the same vector (RFC 3711, section
    /// 4.1.1; RFC 7714, sections 8.1 and 9.1).
    mutating func start(source: UInt32, index: UInt64) -> Bool {
        var vector: (UInt64, UInt64)
        switch profile {
        case .aeadAES128GCM:
            vector.0 = (saltHigh ^ (UInt64(source) << 16 | index >> 32)).bigEndian
            vector.1 = ((saltLow ^ (index & 0xFFFF_FFFF)) << 32).bigEndian
        case .aes128CMHMACSHA1_80:
            vector.0 = (saltHigh ^ UInt64(source)).bigEndian
            vector.1 = ((saltLow ^ (index & 0xFFFF_FFFF_FFFF)) << 16).bigEndian
        }
        return withUnsafeBytes(of: &vector) { bytes in
            EVP_CipherInit_ex(
                context, nil, nil, nil, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), -1) == 1
        }
    }

    /// Copies the tag of the packet that GCM has just encrypted.
    mutating func readTag(into tag: UnsafeMutableRawPointer) -> Bool {
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(profile.tagLength), tag) == 1
    }

    /// Sets the tag that the packet must have that GCM is about to decrypt.
    mutating func expectTag(_ tag: UnsafeMutableRawPointer) -> Bool {
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(profile.tagLength), tag) == 1
    }

    /// HMAC-SHA1 over `message` and `suffix`, of which a packet carries the first ten bytes.
    func authenticationCode(of message: UnsafeRawBufferPointer, suffix: UInt32?) -> SHA1Digest {
        authentication.code(of: message, suffix: suffix)
    }
}

/// OpenSSL's ciphers, looked up once: a context with a fetched cipher does not search for it.
private struct FetchedCiphers: @unchecked Sendable {
    // Proof for @unchecked: the two pointers refer to objects that are never changed or freed, and that OpenSSL itself
    // shares between threads.
    static let shared = FetchedCiphers()

    let gcm: OpaquePointer?
    let counter: OpaquePointer?

    private init() {
        gcm = EVP_CIPHER_fetch(nil, "AES-128-GCM", nil)
        counter = EVP_CIPHER_fetch(nil, "AES-128-CTR", nil)
    }
}
