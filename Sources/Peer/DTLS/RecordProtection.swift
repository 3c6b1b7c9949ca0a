import COpenSSL

/// The keys of the record layer, kept when OpenSSL's connection is freed. With them data channels send and receive their
/// packets, and a connection can still be ended: a browser sends `close_notify` when its page closes, while ICE's consent
/// would take half a minute to expire.
///
/// It supports TLS_ECDHE_*_WITH_AES_128_GCM_SHA256 (RFC 5288, RFC 6347), the only kind of cipher suite that an identity
/// offers or accepts.
struct RecordProtection {
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
    /// The number of the next record. OpenSSL has used the first few for the handshake's last message and its repetitions.
    /// It draws its explicit nonces at random, and a random nonce of 64 bits will not equal one of these by chance.
    private var nextSequenceNumber: UInt64 = 1 << 32
    private var window = RecordWindow()
    /// Made for the first record of application data; most connections carry none.
    private var ciphers: (sealing: RecordCipher, opening: RecordCipher)?

    private static let keyLength = 16
    private static let saltLength = 4
    private static let explicitNonceLength = 8
    private static let tagLength = 16

    /// What a record adds to its plain text, in bytes.
    static let overhead = DTLSRecordHeader.byteCount + explicitNonceLength + tagLength

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

    // MARK: Alerts

    /// The record that carries `alert`.
    mutating func seal(_ alert: Alert) -> [UInt8]? {
        var record = [UInt8](repeating: 0, count: Self.overhead + 2)
        let count = record.withUnsafeMutableBytes { record in
            withUnsafeBytes(of: (alert.level, alert.description)) { seal($0, .alert, into: record) }
        }
        return count == nil ? nil : record
    }

    /// The alert in `record`; nil if it is not authentic.
    mutating func open(alert record: UnsafeRawBufferPointer) -> Alert? {
        guard let header = DTLSRecordHeader(record), header.type == .alert else { return nil }
        var copy = Array(record[..<header.totalLength])
        return copy.withUnsafeMutableBytes { bytes -> Alert? in
            guard let text = open(bytes, .alert), text.count == 2 else { return nil }
            return Alert(level: bytes[text.lowerBound], description: bytes[text.lowerBound + 1])
        }
    }

    // MARK: Application data

    /// Writes the record that carries `text` into `record`.
    /// - Returns: its length; nil if it does not fit.
    mutating func seal(data text: UnsafeRawBufferPointer, into record: UnsafeMutableRawBufferPointer) -> Int? {
        seal(text, .applicationData, into: record)
    }

    /// Decrypts, in place, a datagram's first record of application data.
    /// - Returns: where its plain text is; nil if it is not authentic, or has come before.
    mutating func open(data record: UnsafeMutableRawBufferPointer) -> Range<Int>? {
        open(record, .applicationData)
    }

    private mutating func seal(
        _ text: UnsafeRawBufferPointer, _ type: DTLSRecordHeader.ContentType, into record: UnsafeMutableRawBufferPointer
    ) -> Int? {
        guard record.count >= text.count + Self.overhead, text.count <= 16_384, let cipher = makeCiphers()?.sealing
        else { return nil }
        let number = 1 << 48 | nextSequenceNumber
        nextSequenceNumber += 1
        let length = Self.explicitNonceLength + text.count + Self.tagLength
        let numberBytes = Self.bytes(of: number)
        record[0] = type.rawValue
        record[1] = 0xFE
        record[2] = 0xFD
        for index in 0..<Self.explicitNonceLength {
            record[3 + index] = numberBytes[index]
            record[DTLSRecordHeader.byteCount + index] = numberBytes[index]
        }
        record[11] = UInt8(length >> 8)
        record[12] = UInt8(length & 0xFF)
        let start = DTLSRecordHeader.byteCount + Self.explicitNonceLength
        let isSealed = cipher.seal(
            text, nonce: localSalt + numberBytes,
            header: Self.authenticated(number, type, count: text.count),
            into: UnsafeMutableRawBufferPointer(rebasing: record[start...]))
        return isSealed ? DTLSRecordHeader.byteCount + length : nil
    }

    private mutating func open(
        _ record: UnsafeMutableRawBufferPointer, _ type: DTLSRecordHeader.ContentType
    ) -> Range<Int>? {
        let overhead = Self.explicitNonceLength + Self.tagLength
        guard let header = DTLSRecordHeader(UnsafeRawBufferPointer(record)), header.type == type, header.epoch == 1,
            record[2] == 0xFD, header.length >= overhead, window.accepts(header.sequenceNumber),
            let cipher = makeCiphers()?.opening
        else { return nil }
        let start = DTLSRecordHeader.byteCount + Self.explicitNonceLength
        let nonce = remoteSalt + Array(record[DTLSRecordHeader.byteCount..<start])
        let number = UInt64(header.epoch) << 48 | header.sequenceNumber
        let count = header.length - overhead
        guard
            cipher.open(
                UnsafeMutableRawBufferPointer(rebasing: record[start..<header.totalLength]), nonce: nonce,
                header: Self.authenticated(number, type, count: count))
        else { return nil }
        window.record(header.sequenceNumber)
        return start..<start + count
    }

    private mutating func makeCiphers() -> (sealing: RecordCipher, opening: RecordCipher)? {
        if ciphers == nil, let sealing = RecordCipher(key: localKey, encrypts: true),
            let opening = RecordCipher(key: remoteKey, encrypts: false)
        {
            ciphers = (sealing, opening)
        }
        return ciphers
    }

    /// The additional data of a record (RFC 5246, section 6.2.3.3).
    private static func authenticated(
        _ epochAndSequence: UInt64, _ type: DTLSRecordHeader.ContentType, count: Int
    ) -> [UInt8] {
        bytes(of: epochAndSequence) + [type.rawValue, 0xFE, 0xFD, UInt8(count >> 8), UInt8(count & 0xFF)]
    }

    private static func bytes(of value: UInt64) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
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
