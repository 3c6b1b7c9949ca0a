import COpenSSL

/// The OpenSSL context of an identity: what all its handshakes share, in both roles.
final class DTLSContext: @unchecked Sendable {
    // Proof for @unchecked: nothing changes the SSL_CTX after `init`. OpenSSL counts the references to it, and locks it
    // when several threads make connections from it.
    private let context: OpaquePointer

    init(certificate: OpaquePointer, key: OpaquePointer) throws(DTLSError) {
        guard let context = SSL_CTX_new(DTLS_method()) else { throw OpenSSLErrors.failure(of: "SSL_CTX_new") }
        self.context = context
        // DTLS 1.0 is forbidden (RFC 8996), and OpenSSL has no 1.3: browsers fall back to 1.2.
        _ = SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(DTLS1_2_VERSION), nil)
        _ = SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(DTLS1_2_VERSION), nil)
        SSL_CTX_set_options(context, Self.options)
        _ = SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        // RFC 8827, section 6.5: every peer supports ECDSA on P-256 with AES-128-GCM. RSA is for a peer that is the
        // server and sends an RSA certificate. All suites have forward secrecy.
        guard
            SSL_CTX_set_cipher_list(context, "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256") == 1,
            "X25519:P-256".withCString({ groups in
                SSL_CTX_ctrl(context, SSL_CTRL_SET_GROUPS_LIST, 0, UnsafeMutableRawPointer(mutating: groups))
            }) == 1,
            SSL_CTX_use_certificate(context, certificate) == 1,
            SSL_CTX_use_PrivateKey(context, key) == 1
        else { throw OpenSSLErrors.failure(of: "configuring the DTLS context") }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        SSL_CTX_set_cert_verify_callback(context, checkFingerprint, nil)
    }

    deinit {
        SSL_CTX_free(context)
    }

    /// Makes a connection; the caller frees it.
    func makeConnection() -> OpaquePointer? {
        SSL_new(context)
    }

    // OpenSSL 3.0 writes these as SSL_OP_BIT(n), a macro that Swift does not import.
    private static let options: UInt64 =
        1 << 12  // NO_QUERY_MTU: the size of a datagram is given
        | 1 << 14  // NO_TICKET: sessions are never resumed
        | 1 << 17  // NO_COMPRESSION
        | 1 << 22  // CIPHER_SERVER_PREFERENCE
        | 1 << 30  // NO_RENEGOTIATION: the fingerprint was checked once
}

/// Replaces all of X.509 path validation: a certificate is the peer's if the session description names its fingerprint.
/// Nothing else about it counts (RFC 8827, section 6.5; RFC 5763, section 5).
private func checkFingerprint(_ store: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let store,
        let connection = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
        let pipe = DatagramPipe.of(connection: OpaquePointer(connection)),
        let certificate = X509_STORE_CTX_get0_cert(store), pipe.remoteFingerprints.match(certificate)
    else {
        X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
        return 0
    }
    pipe.isFingerprintVerified = true
    return 1
}
