import COpenSSL
import DTLS
import DatagramPort

/// DTLS handshakes with only libssl and its memory BIOs: the measure for our endpoint.
final class LibsslHandshake {
    private let server: OpaquePointer
    private let client: OpaquePointer

    /// Uses the same certificates and options as the endpoints.
    init(server: DTLSIdentity, client: DTLSIdentity) throws {
        self.server = try Self.context(server)
        do {
            self.client = try Self.context(client)
        } catch {
            SSL_CTX_free(self.server)
            throw error
        }
    }

    deinit {
        SSL_CTX_free(server)
        SSL_CTX_free(client)
    }

    /// Lets a client and a server shake hands and export the keys.
    func shakeHands() throws -> HandshakeCost {
        var cost = HandshakeCost()
        let start = ProcessorClock.thread
        guard let toServer = Self.emptyBIO(), let ours = SSL_new(server) else {
            throw BenchmarkFailure("libssl ran out of memory")
        }
        _ = SSL_ctrl(ours, SSL_CTRL_SET_MTU, 1200, nil)
        SSL_set_accept_state(ours)
        cost.server += ProcessorClock.thread - start
        guard let toClient = Self.emptyBIO(), let theirs = SSL_new(client) else {
            throw BenchmarkFailure("libssl ran out of memory")
        }
        defer { SSL_free(theirs) }
        _ = SSL_ctrl(theirs, SSL_CTRL_SET_MTU, 1200, nil)
        SSL_set_connect_state(theirs)
        // Each BIO belongs to both sides: one writes, the other one reads.
        BIO_up_ref(toServer)
        BIO_up_ref(toClient)
        SSL_set_bio(ours, toServer, toClient)
        SSL_set_bio(theirs, toClient, toServer)
        var isDone = (server: false, client: false)
        for _ in 0..<8 where !(isDone.server && isDone.client) {
            isDone.client = SSL_do_handshake(theirs) == 1
            let before = ProcessorClock.thread
            isDone.server = SSL_do_handshake(ours) == 1
            cost.server += ProcessorClock.thread - before
        }
        let end = ProcessorClock.thread
        let exported = Self.export(ours)
        SSL_free(ours)
        cost.server += ProcessorClock.thread - end
        guard isDone.server, isDone.client, let exported, exported == Self.export(theirs) else {
            throw BenchmarkFailure("libssl did not finish its handshake")
        }
        cost.pair = ProcessorClock.thread - start
        return cost
    }

    private static func emptyBIO() -> OpaquePointer? {
        guard let bio = BIO_new(BIO_s_mem()) else { return nil }
        // An empty BIO means "not yet", not "the end".
        _ = BIO_ctrl(bio, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
        return bio
    }

    private static func export(_ connection: OpaquePointer) -> [UInt8]? {
        var exported = [UInt8](repeating: 0, count: 56)
        let label = "EXTRACTOR-dtls_srtp"
        guard
            SSL_export_keying_material(connection, &exported, exported.count, label, label.utf8.count, nil, 0, 0) == 1
        else { return nil }
        return exported
    }

    private static func context(_ identity: DTLSIdentity) throws -> OpaquePointer {
        guard let context = SSL_CTX_new(DTLS_method()) else { throw BenchmarkFailure("SSL_CTX_new failed") }
        _ = SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(DTLS1_2_VERSION), nil)
        // SSL_OP_NO_QUERY_MTU and SSL_OP_NO_TICKET, which Swift does not see. Tickets would cost libssl half as much
        // again, for a resumption that is not used here.
        SSL_CTX_set_options(context, 1 << 12 | 1 << 14)
        _ = SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        guard SSL_CTX_set_cipher_list(context, "ECDHE-ECDSA-AES128-GCM-SHA256") == 1,
            "X25519:P-256".withCString({ groups in
                SSL_CTX_ctrl(context, SSL_CTRL_SET_GROUPS_LIST, 0, UnsafeMutableRawPointer(mutating: groups))
            }) == 1,
            SSL_CTX_set_tlsext_use_srtp(context, "SRTP_AEAD_AES_128_GCM") == 0,
            use(identity, in: context)
        else {
            SSL_CTX_free(context)
            throw BenchmarkFailure("libssl's context could not be configured")
        }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        SSL_CTX_set_cert_verify_callback(context, { _, _ in 1 }, nil)
        return context
    }

    private static func use(_ identity: DTLSIdentity, in context: OpaquePointer) -> Bool {
        guard let certificateText = bio(identity.certificatePEM), let keyText = bio(identity.privateKeyPEM) else {
            return false
        }
        defer {
            BIO_free(certificateText)
            BIO_free(keyText)
        }
        guard let certificate = PEM_read_bio_X509(certificateText, nil, nil, nil) else { return false }
        defer { X509_free(certificate) }
        guard let key = PEM_read_bio_PrivateKey(keyText, nil, nil, nil) else { return false }
        defer { EVP_PKEY_free(key) }
        return SSL_CTX_use_certificate(context, certificate) == 1 && SSL_CTX_use_PrivateKey(context, key) == 1
    }

    private static func bio(_ text: String) -> OpaquePointer? {
        let bytes = Array(text.utf8)
        guard let bio = BIO_new(BIO_s_mem()) else { return nil }
        guard BIO_write(bio, bytes, Int32(bytes.count)) == Int32(bytes.count) else {
            BIO_free(bio)
            return nil
        }
        return bio
    }
}
