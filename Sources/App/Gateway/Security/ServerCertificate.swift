import COpenSSL
import Foundation
import NIOCore
import Transport

/// The self-signed certificate that lets HTTPS work from the first start on.
///
/// Browsers warn once about it. It gives encryption and, above all, a microphone: browsers allow none on pages of plain
/// HTTP away from localhost.
struct ServerCertificate: Sendable, Equatable {
    /// Why no certificate could be made.
    struct Failure: Error, Sendable, CustomStringConvertible {
        var step: String
        var description: String { "a certificate for HTTPS could not be made: \(step) failed" }
    }

    static let certificateFile = "https-certificate.pem"
    static let keyFile = "https-key.pem"
    /// Phones refuse server certificates that are valid for longer.
    static let validityDays = 825
    /// A certificate that ends sooner is replaced at the start.
    static let renewalDays = 30

    /// The certificate as PEM.
    var certificate: String
    /// Its private key as PEM.
    var privateKey: String

    /// The certificate in the state folder; a new one if there is none, or if it is about to end.
    static func openOrCreate(in directory: StateDirectory, names: [String]) throws -> ServerCertificate {
        if let certificate = try directory.readPrivate(Self.certificateFile),
            let privateKey = try directory.readPrivate(Self.keyFile),
            Self.isUsable(certificate: certificate, privateKey: privateKey)
        {
            return ServerCertificate(certificate: certificate, privateKey: privateKey)
        }
        let made = try Self.selfSigned(names: names)
        try directory.writePrivate(Self.keyFile, made.privateKey)
        try directory.writePrivate(Self.certificateFile, made.certificate)
        return made
    }

    /// The names that a certificate of this host should have: localhost, the loopback addresses, the host's name and
    /// the addresses of its interfaces.
    static func hostNames(additional: [String] = []) -> [String] {
        var names = ["localhost", "127.0.0.1", "::1"]
        let host = ProcessInfo.processInfo.hostName.lowercased()
        let isName = host.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || "-.".utf8.contains($0)
        }
        if isName, !host.isEmpty, host.utf8.count <= 253 { names.append(host) }
        for device in (try? NIOCore.System.enumerateDevices()) ?? [] {
            guard let text = device.address?.ipAddress?.split(separator: "%").first,
                let address = TransportAddress(text, port: 1), !address.isLinkLocal, !address.isMulticast
            else { continue }
            names.append(address.host)
        }
        names += additional
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }

    /// Makes an ECDSA P-256 key and a certificate that it signs itself.
    static func selfSigned(names: [String], validityDays: Int = Self.validityDays) throws(Failure) -> ServerCertificate
    {
        guard let key = Self.makeKey() else { throw Failure(step: "making the key") }
        defer { EVP_PKEY_free(key) }
        guard let certificate = X509_new() else { throw Failure(step: "X509_new") }
        defer { X509_free(certificate) }

        var serial = [UInt8](repeating: 0, count: 16)
        guard RAND_bytes(&serial, 16) == 1 else { throw Failure(step: "the random source") }
        // A serial number is a positive integer (RFC 5280, section 4.1.2.2).
        serial[0] = serial[0] & 0x7F | 0x40
        guard let number = BN_bin2bn(serial, 16, nil) else { throw Failure(step: "the serial number") }
        defer { BN_free(number) }
        BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate))

        X509_set_version(certificate, 2)
        // An hour back, for clients whose clock is a little behind.
        X509_gmtime_adj(X509_getm_notBefore(certificate), -3_600)
        X509_gmtime_adj(X509_getm_notAfter(certificate), validityDays * 86_400)
        X509_set_pubkey(certificate, key)
        let subject = X509_get_subject_name(certificate)
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, "Gatehouse", -1, -1, 0)
        X509_set_issuer_name(certificate, subject)

        let alternatives = names.map { name in
            (TransportAddress(name, port: 1) == nil ? "DNS:" : "IP:") + name
        }
        // No key usage: with one that leaves out signing certificates, clients that are given this very certificate to
        // trust do not find that it has signed itself (RFC 5280, section 4.2.1.3).
        let extensions: [(Int32, String)] = [
            (NID_basic_constraints, "critical,CA:FALSE"),
            (NID_ext_key_usage, "serverAuth"),
            (NID_subject_alt_name, alternatives.joined(separator: ",")),
        ]
        for (identifier, value) in extensions where !value.isEmpty {
            guard let made = X509V3_EXT_conf_nid(nil, nil, identifier, value) else {
                throw Failure(step: "the extension \(value)")
            }
            X509_add_ext(certificate, made, -1)
            X509_EXTENSION_free(made)
        }
        guard X509_sign(certificate, key, EVP_sha256()) > 0 else { throw Failure(step: "signing") }
        guard let certificateText = Self.pem({ PEM_write_bio_X509($0, certificate) }),
            let keyText = Self.pem({ PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) })
        else { throw Failure(step: "writing PEM") }
        return ServerCertificate(certificate: certificateText, privateKey: keyText)
    }

    /// Whether certificate and key belong together and the certificate is valid for some time to come.
    static func isUsable(certificate: String, privateKey: String) -> Bool {
        guard let parsed = Self.withBIO(certificate, { PEM_read_bio_X509($0, nil, nil, nil) }) else { return false }
        defer { X509_free(parsed) }
        guard let key = Self.withBIO(privateKey, { PEM_read_bio_PrivateKey($0, nil, nil, nil) }) else { return false }
        defer { EVP_PKEY_free(key) }
        var limit = time(nil) + Self.renewalDays * 86_400
        return X509_check_private_key(parsed, key) == 1 && X509_cmp_time(X509_get0_notAfter(parsed), &limit) > 0
    }

    private static func makeKey() -> OpaquePointer? {
        guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
            EVP_PKEY_keygen(context, &key) == 1
        else { return nil }
        return key
    }

    private static func withBIO<Result>(_ text: String, _ body: (OpaquePointer) -> Result?) -> Result? {
        // The BIO points into the bytes, so it must not outlive the closure.
        Array(text.utf8).withUnsafeBytes { bytes in
            guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { BIO_free(bio) }
            return body(bio)
        }
    }

    private static func pem(_ write: (OpaquePointer) -> Int32) -> String? {
        guard let bio = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(bio) }
        guard write(bio) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = BIO_read(bio, &bytes, Int32(bytes.count))
        return count > 0 ? String(decoding: bytes[..<Int(count)], as: UTF8.self) : nil
    }
}
