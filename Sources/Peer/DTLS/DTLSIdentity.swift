import COpenSSL

/// The key and the self-signed certificate that a gateway presents to each peer, with the OpenSSL context that all its
/// handshakes share.
///
/// Peers identify the certificate by its fingerprint alone (RFC 8827, section 5.1), so it contains no name.
public final class DTLSIdentity: Sendable {
    /// The SHA-256 fingerprint for the session description.
    public let fingerprint: DTLSFingerprint
    /// The certificate in PEM form.
    public let certificatePEM: String
    /// The private key in PEM form (PKCS #8, not encrypted): keep it in a private file.
    public let privateKeyPEM: String

    let context: DTLSContext

    /// Makes a new ECDSA P-256 key and a certificate for it.
    public static func generate() throws(DTLSError) -> DTLSIdentity {
        guard let key = makeKey() else { throw OpenSSLErrors.failure(of: "EVP_PKEY_generate") }
        defer { EVP_PKEY_free(key) }
        guard let certificate = makeCertificate(for: key) else { throw OpenSSLErrors.failure(of: "X509_sign") }
        defer { X509_free(certificate) }
        return try DTLSIdentity(certificate: certificate, key: key)
    }

    /// Reads what an earlier run wrote: ``certificatePEM`` and ``privateKeyPEM``.
    public convenience init(certificatePEM: String, privateKeyPEM: String) throws(DTLSError) {
        guard let certificate = Self.readPEM(certificatePEM, { PEM_read_bio_X509($0, nil, refusePassphrase, nil) })
        else { throw .invalidIdentity("the certificate is not in PEM form") }
        defer { X509_free(certificate) }
        guard let key = Self.readPEM(privateKeyPEM, { PEM_read_bio_PrivateKey($0, nil, refusePassphrase, nil) }) else {
            throw .invalidIdentity("the private key is not in PEM form, or encrypted")
        }
        defer { EVP_PKEY_free(key) }
        guard X509_check_private_key(certificate, key) == 1 else {
            ERR_clear_error()
            throw .invalidIdentity("the private key is not the certificate's")
        }
        try self.init(certificate: certificate, key: key)
    }

    private init(certificate: OpaquePointer, key: OpaquePointer) throws(DTLSError) {
        guard let fingerprint = DTLSFingerprint(of: certificate, algorithm: .sha256),
            let certificatePEM = Self.writePEM({ PEM_write_bio_X509($0, certificate) }),
            let privateKeyPEM = Self.writePEM({ PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) })
        else { throw OpenSSLErrors.failure(of: "writing the identity") }
        self.fingerprint = fingerprint
        self.certificatePEM = certificatePEM
        self.privateKeyPEM = privateKeyPEM
        context = try DTLSContext(certificate: certificate, key: key)
    }

    private static func makeKey() -> OpaquePointer? {
        guard let generator = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
        defer { EVP_PKEY_CTX_free(generator) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(generator) == 1, EVP_PKEY_CTX_set_group_name(generator, "P-256") == 1,
            EVP_PKEY_generate(generator, &key) == 1
        else { return nil }
        return key
    }

    private static func makeCertificate(for key: OpaquePointer) -> OpaquePointer? {
        guard let certificate = X509_new() else { return nil }
        // The years are fixed. So the certificate is valid on a machine without a battery-backed clock, and on one that
        // runs for decades. Peers pin the fingerprint, and the gateway decides when to make a new certificate.
        let name = X509_get_subject_name(certificate)
        var serial: UInt64 = 0
        guard
            withUnsafeMutableBytes(of: &serial, { RAND_bytes($0.baseAddress?.assumingMemoryBound(to: UInt8.self), 8) })
                == 1,
            X509_set_version(certificate, 2) == 1,
            ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) == 1,
            ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), "20200101000000Z") == 1,
            ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), "20991231235959Z") == 1,
            X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, "gatehouse", -1, -1, 0) == 1,
            X509_set_issuer_name(certificate, name) == 1,
            X509_set_pubkey(certificate, key) == 1,
            X509_sign(certificate, key, EVP_sha256()) > 0
        else {
            X509_free(certificate)
            return nil
        }
        return certificate
    }

    private static func readPEM(_ text: String, _ read: (OpaquePointer?) -> OpaquePointer?) -> OpaquePointer? {
        let bytes = Array(text.utf8)
        defer { ERR_clear_error() }
        return bytes.withUnsafeBytes { buffer in
            guard let memory = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else { return nil }
            defer { BIO_free(memory) }
            return read(memory)
        }
    }

    private static func writePEM(_ write: (OpaquePointer?) -> Int32) -> String? {
        guard let memory = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(memory) }
        guard write(memory) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(memory))
        guard BIO_read(memory, &bytes, Int32(clamping: bytes.count)) == Int32(bytes.count) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Without a callback, OpenSSL would ask for the passphrase of an encrypted file on the terminal.
private func refusePassphrase(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _ isWriting: Int32, _ context: UnsafeMutableRawPointer?
) -> Int32 { -1 }
