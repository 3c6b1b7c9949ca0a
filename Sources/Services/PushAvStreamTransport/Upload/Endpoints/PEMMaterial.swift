import COpenSSL
import Transport

/// Certificates and keys in PEM, as far as they have to be checked before they are kept.
enum PEMMaterial {
    /// The most certificates in one text.
    static let maximumCertificates = 100

    /// What is wrong with a list of certificates; nil when nothing is.
    static func problem(certificates text: String, name: String) -> String? {
        guard let count = withCertificates(text, { $0.count }) else {
            return "\(name) contains something that is not a certificate in PEM, or more than \(maximumCertificates)"
        }
        return count == 0 ? "\(name) must contain a certificate in PEM (-----BEGIN CERTIFICATE-----)" : nil
    }

    /// What is wrong with a certificate chain and its key; nil when nothing is.
    static func problem(chain: String, privateKey: String) -> String? {
        if let problem = problem(certificates: chain, name: "clientCertificate") { return problem }
        guard let key = read(privateKey, { PEM_read_bio_PrivateKey($0, nil, refusePassphrase, nil) }) else {
            return "privateKey must be a private key in PEM that is not encrypted"
        }
        defer { EVP_PKEY_free(key) }
        let matches = withCertificates(chain) { certificates in
            certificates.first.map { X509_check_private_key($0, key) == 1 } ?? false
        }
        ERR_clear_error()
        return matches == true ? nil : "privateKey is not the key of the first certificate in clientCertificate"
    }

    /// What may be shown of certificates.
    static func descriptions(_ text: String) -> [UploadEndpointSummary.Certificate] {
        withCertificates(text) { $0.map(description) } ?? []
    }

    private static func description(_ certificate: OpaquePointer) -> UploadEndpointSummary.Certificate {
        var expiry = tm()
        ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &expiry)
        let expiresAt = WallTime(millisecondsSince1970: Int64(timegm(&expiry)) * 1_000).iso8601
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        X509_digest(certificate, EVP_sha256(), &digest, &length)
        return .init(
            subject: subject(of: certificate), expiresAt: expiresAt,
            fingerprint: Digest.hexadecimal(digest.prefix(Int(length))))
    }

    private static func subject(of certificate: OpaquePointer) -> String {
        guard let output = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(output) }
        X509_NAME_print_ex(output, X509_get_subject_name(certificate), 0, nameFlags)
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = BIO_read(output, &bytes, Int32(bytes.count))
        return String(decoding: bytes.prefix(Int(max(0, count))), as: UTF8.self)
    }

    /// Calls `body` with the certificates of a text; nil when the text holds one that cannot be read, or too many.
    private static func withCertificates<Result>(_ text: String, _ body: ([OpaquePointer]) -> Result) -> Result? {
        let begin = "-----BEGIN CERTIFICATE-----"
        let expected = text.split(separator: "\n").filter { $0.hasPrefix(begin) }.count
        guard expected <= maximumCertificates else { return nil }
        return withMemory(text) { input in
            var certificates: [OpaquePointer] = []
            defer { certificates.forEach(X509_free) }
            while certificates.count < expected, let next = PEM_read_bio_X509(input, nil, refusePassphrase, nil) {
                certificates.append(next)
            }
            ERR_clear_error()
            return certificates.count == expected ? body(certificates) : nil
        } ?? nil
    }

    private static func read(_ text: String, _ body: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
        defer { ERR_clear_error() }
        return withMemory(text, body) ?? nil
    }

    private static func withMemory<Result>(_ text: String, _ body: (OpaquePointer) -> Result) -> Result? {
        guard let memory = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(memory) }
        let bytes = Array(text.utf8)
        guard bytes.count <= 1 << 20, BIO_write(memory, bytes, Int32(bytes.count)) == Int32(bytes.count) else {
            return nil
        }
        return body(memory)
    }

    /// As in RFC 2253, which escapes what is not printable: `XN_FLAG_RFC2253`, a macro that is not imported.
    private static let nameFlags: UInt = 0x111_0317
}

/// OpenSSL would ask for a passphrase on the terminal otherwise.
private func refusePassphrase(
    _: UnsafeMutablePointer<CChar>?, _: Int32, _: Int32, _: UnsafeMutableRawPointer?
) -> Int32 { -1 }
