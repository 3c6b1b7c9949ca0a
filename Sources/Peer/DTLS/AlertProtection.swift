import COpenSSL

/// The keys of the record layer, kept when OpenSSL's connection is freed. With them a connection can still be ended: a
/// browser sends `close_notify` when its page closes, while ICE's consent would take half a minute to expire.
///
/// It supports TLS_ECDHE_*_WITH_AES_128_GCM_SHA256 (RFC 5288, RFC 6347), the only kind of cipher suite that an identity
/// offers or accepts.
struct AlertProtection {
    /// An alert: its level and its description (RFC 5246, section 7.2).
    struct Alert: Equatable {
        var level: UInt8
        var description: UInt8

        static let closeNotify = Alert(level: 1, description: 0)

        /// Whether it ends the connection.
        var ends: Bool { level == 2 || description == 0 }
    }

    private let localKey: [UInt8]
    private let localSalt: [UInt8]
    private let remoteKey: [UInt8]
    private let remoteSalt: [UInt8]

    private static let keyLength = 16
    private static let saltLength = 4
    private static let explicitNonceLength = 8
    private static let tagLength = 16

    /// The sequence number of the record that ends the connection. OpenSSL has used the first few for the handshake's
    /// last message and its repetitions. It draws its explicit nonces at random, and a random nonce of 64 bits will not
    /// equal this one by chance.
    private static let closingSequenceNumber: UInt64 = 1 << 32

    /// Derives the keys of a connection whose handshake is over (RFC 5246, section 6.3).
    init?(connection: OpaquePointer, isClient: Bool) {
        guard let session = SSL_get_session(connection), let cipher = SSL_get_current_cipher(connection),
            SSL_CIPHER_get_cipher_nid(cipher) == NID_aes_128_gcm
        else { return nil }
        var master = [UInt8](repeating: 0, count: 48)
        guard SSL_SESSION_get_master_key(session, &master, master.count) == master.count else { return nil }
        var clientRandom = [UInt8](repeating: 0, count: 32)
        var serverRandom = clientRandom
        guard SSL_get_client_random(connection, &clientRandom, 32) == 32,
            SSL_get_server_random(connection, &serverRandom, 32) == 32,
            let block = Self.expand(
                secret: master, seed: Array("key expansion".utf8) + serverRandom + clientRandom,
                count: 2 * (Self.keyLength + Self.saltLength))
        else { return nil }
        let clientKey = Array(block[0..<16])
        let serverKey = Array(block[16..<32])
        let clientSalt = Array(block[32..<36])
        let serverSalt = Array(block[36..<40])
        localKey = isClient ? clientKey : serverKey
        localSalt = isClient ? clientSalt : serverSalt
        remoteKey = isClient ? serverKey : clientKey
        remoteSalt = isClient ? serverSalt : clientSalt
    }

    /// The record that carries `alert`.
    func seal(_ alert: Alert) -> [UInt8]? {
        let epochAndSequence = 1 << 48 | Self.closingSequenceNumber
        let nonce = Self.bytes(of: epochAndSequence)
        let length = Self.explicitNonceLength + 2 + Self.tagLength
        let header =
            [DTLSRecordHeader.ContentType.alert.rawValue, 0xFE, 0xFD] + Self.bytes(of: epochAndSequence)
            + [0, UInt8(length)]
        var text = [alert.level, alert.description]
        var tag = [UInt8](repeating: 0, count: Self.tagLength)
        guard
            Self.crypt(
                &text, key: localKey, nonce: localSalt + nonce, header: Self.authenticated(epochAndSequence),
                tag: &tag, encrypts: true)
        else { return nil }
        return header + nonce + text + tag
    }

    /// The alert in `record`; nil if it is not authentic.
    func open(_ record: UnsafeRawBufferPointer) -> Alert? {
        let overhead = Self.explicitNonceLength + Self.tagLength
        guard let header = DTLSRecordHeader(record), header.type == .alert, header.epoch == 1,
            header.length == overhead + 2
        else { return nil }
        let body = Array(record[DTLSRecordHeader.byteCount..<header.totalLength])
        var text = Array(body[8..<10])
        var tag = Array(body[10...])
        let epochAndSequence = UInt64(header.epoch) << 48 | header.sequenceNumber
        guard
            Self.crypt(
                &text, key: remoteKey, nonce: remoteSalt + body[..<8], header: Self.authenticated(epochAndSequence),
                tag: &tag, encrypts: false)
        else { return nil }
        return Alert(level: text[0], description: text[1])
    }

    /// The additional data of an alert's record (RFC 5246, section 6.2.3.3).
    private static func authenticated(_ epochAndSequence: UInt64) -> [UInt8] {
        bytes(of: epochAndSequence) + [DTLSRecordHeader.ContentType.alert.rawValue, 0xFE, 0xFD, 0, 2]
    }

    private static func bytes(of value: UInt64) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    private static func crypt(
        _ text: inout [UInt8], key: [UInt8], nonce: [UInt8], header: [UInt8], tag: inout [UInt8], encrypts: Bool
    ) -> Bool {
        guard let context = EVP_CIPHER_CTX_new() else { return false }
        defer { EVP_CIPHER_CTX_free(context) }
        var written: Int32 = 0
        var output = [UInt8](repeating: 0, count: text.count)
        var nothing = [UInt8](repeating: 0, count: 16)
        guard EVP_CipherInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce, encrypts ? 1 : 0) == 1,
            encrypts || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1,
            EVP_CipherUpdate(context, nil, &written, header, Int32(header.count)) == 1,
            EVP_CipherUpdate(context, &output, &written, text, Int32(text.count)) == 1,
            EVP_CipherFinal_ex(context, &nothing, &written) == 1,
            !encrypts || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), &tag) == 1
        else {
            ERR_clear_error()
            return false
        }
        text = output
        return true
    }

    /// The pseudorandom function of TLS 1.2 with SHA-256 (RFC 5246, section 5); `seed` begins with the label.
    private static func expand(secret: [UInt8], seed: [UInt8], count: Int) -> [UInt8]? {
        func authenticate(_ message: [UInt8]) -> [UInt8]? {
            var code = [UInt8](repeating: 0, count: 32)
            var length: UInt32 = 0
            guard HMAC(EVP_sha256(), secret, Int32(secret.count), message, message.count, &code, &length) != nil,
                length == 32
            else { return nil }
            return code
        }
        var output: [UInt8] = []
        var chain = seed
        while output.count < count {
            guard let next = authenticate(chain), let part = authenticate(next + seed) else { return nil }
            chain = next
            output += part
        }
        return Array(output.prefix(count))
    }
}
