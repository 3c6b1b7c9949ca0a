import COpenSSL
import Foundation
import Testing

@testable import TLS

@Suite struct TLSClientTests {
    @Test(arguments: ["turn.example", "192.0.2.1"])
    func bytesGoBothWaysOnceTheCertificateIsAccepted(name: String) throws {
        let server = try TLSServer(names: "DNS:turn.example,IP:192.0.2.1")
        let client = try TLSClient(serverName: name, authorities: server.certificateFile)
        #expect(try server.exchange(with: client).isEmpty)
        #expect(client.isEstablished)
        let request = [UInt8](repeating: 7, count: 40_000)
        try request.withUnsafeBytes { try client.send(UnsafeRawBufferPointer(rebasing: $0[..<16_384])) }
        #expect(try server.exchange(with: client) == Array(request[..<16_384]))
        server.write(request)
        var received: [UInt8] = []
        _ = try server.exchange(with: client) { received += Array($0) }
        #expect(received == request)
        server.close()
        _ = try server.exchange(with: client)
        #expect(client.isClosed)
    }

    @Test(arguments: ["other.example", "192.0.2.2", "example"])
    func aCertificateForAnotherNameIsRefused(name: String) throws {
        let server = try TLSServer(names: "DNS:turn.example,IP:192.0.2.1")
        let client = try TLSClient(serverName: name, authorities: server.certificateFile)
        let failure = #expect(throws: TLSFailure.self) { try server.exchange(with: client) }
        #expect(failure?.description.contains("certificate is refused") == true, "\(String(describing: failure))")
        #expect(!client.isEstablished)
    }

    @Test func aCertificateThatNobodyVouchesForIsRefused() throws {
        let server = try TLSServer(names: "DNS:turn.example")
        let client = try TLSClient(serverName: "turn.example")
        #expect(throws: TLSFailure.self) { try server.exchange(with: client) }
        #expect(!client.isEstablished)
    }

    @Test func aFileWithoutAuthoritiesIsRefused() {
        #expect(throws: TLSFailure.self) { try TLSClient(serverName: "turn.example", authorities: "/dev/null") }
    }

    @Test func nothingIsSentBeforeTheCertificateIsAccepted() throws {
        let client = try TLSClient(serverName: "turn.example")
        let greeting = client.transmit()
        #expect(!greeting.isEmpty)
        try [1, 2, 3].withUnsafeBytes { try client.send($0) }
        #expect(client.transmit().isEmpty)
    }

    @Test func bytesThatAreNotTLSEndTheConnection() throws {
        let client = try TLSClient(serverName: "turn.example")
        #expect(throws: TLSFailure.self) {
            try Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8).withUnsafeBytes { try client.receive($0) { _ in } }
        }
    }
}

extension TLSClient {
    fileprivate func transmit() -> [UInt8] {
        var found: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = buffer.withUnsafeMutableBytes({ pollTransmit(into: $0) }), count > 0 {
            found += buffer[..<count]
        }
        return found
    }
}

/// OpenSSL's server, with a certificate that it signs itself.
private final class TLSServer {
    private let context: OpaquePointer
    private let ssl: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    /// Its PEM file.
    let certificateFile: String

    init(names: String) throws {
        let key = try #require(makeKey())
        defer { EVP_PKEY_free(key) }
        let certificate = try #require(X509_new())
        defer { X509_free(certificate) }
        let subject = X509_get_subject_name(certificate)
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), 1)
        ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), "20200101000000Z")
        ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), "20991231235959Z")
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, "test", -1, -1, 0)
        X509_set_issuer_name(certificate, subject)
        X509_set_pubkey(certificate, key)
        let alternatives = try #require(X509V3_EXT_conf_nid(nil, nil, NID_subject_alt_name, names))
        X509_add_ext(certificate, alternatives, -1)
        X509_EXTENSION_free(alternatives)
        try #require(X509_sign(certificate, key, EVP_sha256()) > 0)
        certificateFile = FileManager.default.temporaryDirectory.path + "/tls-\(UUID().uuidString).pem"
        let file = try #require(BIO_new_file(certificateFile, "w"))
        PEM_write_bio_X509(file, certificate)
        BIO_free(file)
        context = try #require(SSL_CTX_new(TLS_server_method()))
        try #require(SSL_CTX_use_certificate(context, certificate) == 1)
        try #require(SSL_CTX_use_PrivateKey(context, key) == 1)
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
        let ssl = try #require(SSL_new(context))
        let incoming = try #require(BIO_new(BIO_s_mem()))
        let outgoing = try #require(BIO_new(BIO_s_mem()))
        BIO_ctrl(incoming, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
        SSL_set_bio(ssl, incoming, outgoing)
        SSL_set_accept_state(ssl)
        return (ssl, incoming, outgoing)
    }

    func write(_ bytes: [UInt8]) { SSL_write(ssl, bytes, Int32(bytes.count)) }

    func close() { SSL_shutdown(ssl) }

    private func takeOutput() -> [UInt8] {
        var found = [UInt8](repeating: 0, count: BIO_ctrl_pending(outgoing))
        let count = BIO_read(outgoing, &found, Int32(found.count))
        return Array(found.prefix(max(0, Int(count))))
    }

    /// Lets both talk until neither has anything to say; returns what the client has sent.
    @discardableResult
    func exchange(
        with client: TLSClient, _ received: (UnsafeRawBufferPointer) -> Void = { _ in }
    ) throws -> [UInt8] {
        var sent: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        for _ in 0..<20 {
            let bytes = client.transmit()
            BIO_write(incoming, bytes, Int32(bytes.count))
            while case let count = SSL_read(ssl, &buffer, Int32(buffer.count)), count > 0 {
                sent += buffer[..<Int(count)]
            }
            let answer = takeOutput()
            if bytes.isEmpty, answer.isEmpty { break }
            try answer.withUnsafeBytes { try client.receive($0, received) }
        }
        return sent
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
