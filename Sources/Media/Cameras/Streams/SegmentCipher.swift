import COpenSSL

/// Decrypts a segment while it arrives: AES with a key of 128 bits, cipher block chaining and PKCS #7 padding (RFC 8216,
/// section 4.3.2.4).
struct SegmentCipher: ~Copyable {
    /// The length of a key and of an initialization vector, in bytes.
    static let keyLength = 16
    private let context: OpaquePointer

    /// Nil for a key or a vector of another length.
    init?(key: [UInt8], initializationVector: [UInt8]) {
        guard key.count == Self.keyLength, initializationVector.count == Self.keyLength,
            let context = EVP_CIPHER_CTX_new()
        else { return nil }
        guard EVP_DecryptInit_ex(context, EVP_aes_128_cbc(), nil, key, initializationVector) == 1 else {
            EVP_CIPHER_CTX_free(context)
            return nil
        }
        self.context = context
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
    }

    /// Takes the next bytes of the segment, and returns what they complete. The last block waits for ``finish()``.
    mutating func decrypt(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: bytes.count + Self.keyLength) { buffer, count in
            var written: Int32 = 0
            let source = bytes.bindMemory(to: UInt8.self).baseAddress
            guard let length = Int32(exactly: bytes.count),
                EVP_DecryptUpdate(context, buffer.baseAddress, &written, source, length) == 1
            else { return }
            count = Int(written)
        }
    }

    /// The segment has ended: returns its last bytes. Nil where they are not padded as they should be, so that the key is
    /// another one or the segment is cut.
    mutating func finish() -> [UInt8]? {
        var isWhole = false
        let rest = [UInt8](unsafeUninitializedCapacity: Self.keyLength) { buffer, count in
            var written: Int32 = 0
            isWhole = EVP_DecryptFinal_ex(context, buffer.baseAddress, &written) == 1
            count = isWhole ? Int(written) : 0
        }
        return isWhole ? rest : nil
    }
}
