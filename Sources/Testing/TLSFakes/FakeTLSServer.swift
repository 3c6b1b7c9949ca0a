import COpenSSL
import Foundation

/// OpenSSL's side of a server, with a certificate that it signs itself. It does no I/O: the caller moves encrypted bytes
/// in and out.
public final class FakeTLSServer {
    /// OpenSSL has refused a step of the preparations.
    public struct Refusal: Error {}

    private let context: OpaquePointer
    private let ssl: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    /// The PEM file of its certificate, for the authorities that a client trusts.
    public let certificateFile: String

    /// Makes a server whose certificate is for `names`, in OpenSSL's words, such as `DNS:turn.example,IP:192.0.2.1`.
    public init(names: String) throws {
        let key = try Self.present(makeKey())
        defer { EVP_PKEY_free(key) }
        let certificate = try Self.present(X509_new())
        defer { X509_free(certificate) }
        let subject = X509_get_subject_name(certificate)
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), 1)
        ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), "20200101000000Z")
        ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), "20991231235959Z")
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, "test", -1, -1, 0)
        X509_set_issuer_name(certificate, subject)
        X509_set_pubkey(certificate, key)
        let alternatives = try Self.present(X509V3_EXT_conf_nid(nil, nil, NID_subject_alt_name, names))
        X509_add_ext(certificate, alternatives, -1)
        X509_EXTENSION_free(alternatives)
        guard X509_sign(certificate, key, EVP_sha256()) > 0 else { throw Refusal() }
        certificateFile = FileManager.default.temporaryDirectory.path + "/tls-\(UUID().uuidString).pem"
        let file = try Self.present(BIO_new_file(certificateFile, "w"))
        PEM_write_bio_X509(file, certificate)
        BIO_free(file)
        context = try Self.present(SSL_CTX_new(TLS_server_method()))
        guard SSL_CTX_use_certificate(context, certificate) == 1, SSL_CTX_use_PrivateKey(context, key) == 1 else {
            throw Refusal()
        }
        (ssl, incoming, outgoing) = try Self.connection(context)
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
        unlink(certificateFile)
    }

    private static func connection(
        _ context: OpaquePointer
    ) throws -> (OpaquePointer, OpaquePointer, OpaquePointer) {
        let ssl = try present(SSL_new(context))
        let incoming = try present(BIO_new(BIO_s_mem()))
        let outgoing = try present(BIO_new(BIO_s_mem()))
        // An empty memory BIO means "nothing yet", not the end of the connection.
        BIO_ctrl(incoming, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
        SSL_set_bio(ssl, incoming, outgoing)
        SSL_set_accept_state(ssl)
        return (ssl, incoming, outgoing)
    }

    private static func present<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw Refusal() }
        return value
    }

    /// Encrypts bytes for the client.
    public func write(_ bytes: [UInt8]) { SSL_write(ssl, bytes, Int32(bytes.count)) }

    /// Ends the connection in order.
    public func close() { SSL_shutdown(ssl) }

    /// Asks the client for new keys (RFC 8446, section 4.6.3). False before the handshake is complete.
    public func requestKeyUpdate() -> Bool {
        SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) == 1 && SSL_do_handshake(ssl) == 1
    }

    /// Takes encrypted bytes from the client, and returns what they hold.
    public func receive(_ encrypted: [UInt8]) -> [UInt8] {
        BIO_write(incoming, encrypted, Int32(encrypted.count))
        var plain: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while case let count = SSL_read(ssl, &buffer, Int32(buffer.count)), count > 0 {
            plain += buffer[..<Int(count)]
        }
        return plain
    }

    /// What waits for the client, encrypted.
    public func takeOutput() -> [UInt8] {
        var found = [UInt8](repeating: 0, count: BIO_ctrl_pending(outgoing))
        let count = BIO_read(outgoing, &found, Int32(found.count))
        return Array(found.prefix(max(0, Int(count))))
    }
}

/// A new key on the curve P-256.
private func makeKey() -> OpaquePointer? {
    guard let generator = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
    defer { EVP_PKEY_CTX_free(generator) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(generator) == 1, EVP_PKEY_CTX_set_group_name(generator, "P-256") == 1,
        EVP_PKEY_generate(generator, &key) == 1
    else { return nil }
    return key
}
