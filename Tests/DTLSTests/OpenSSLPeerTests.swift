import COpenSSL
import DTLS
import SRTP
import Testing
import Transport

/// OpenSSL's own DTLS, set up as its manual says, as a peer that has nothing of this module.
private final class OpenSSLPeer {
    private let context: OpaquePointer
    private let connection: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer

    init(_ identity: DTLSIdentity, isClient: Bool) throws {
        context = try #require(SSL_CTX_new(DTLS_method()))
        let certificate = try #require(
            Self.read(identity.certificatePEM) { PEM_read_bio_X509($0, nil, nil, nil) })
        let key = try #require(Self.read(identity.privateKeyPEM) { PEM_read_bio_PrivateKey($0, nil, nil, nil) })
        SSL_CTX_use_certificate(context, certificate)
        SSL_CTX_use_PrivateKey(context, key)
        X509_free(certificate)
        EVP_PKEY_free(key)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT) { _, _ in 1 }
        try #require(SSL_CTX_set_tlsext_use_srtp(context, "SRTP_AES128_CM_SHA1_80:SRTP_AEAD_AES_128_GCM") == 0)
        connection = try #require(SSL_new(context))
        incoming = try #require(BIO_new(BIO_s_mem()))
        outgoing = try #require(BIO_new(BIO_s_mem()))
        _ = BIO_ctrl(incoming, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
        SSL_set_bio(connection, incoming, outgoing)
        // NO_QUERY_MTU.
        SSL_set_options(connection, 1 << 12)
        _ = SSL_ctrl(connection, SSL_CTRL_SET_MTU, 1200, nil)
        if isClient { SSL_set_connect_state(connection) } else { SSL_set_accept_state(connection) }
    }

    deinit {
        SSL_free(connection)
        SSL_CTX_free(context)
    }

    private static func read(_ text: String, _ function: (OpaquePointer?) -> OpaquePointer?) -> OpaquePointer? {
        // The memory BIO does not copy: it lives only while the bytes are borrowed.
        Array(text.utf8).withUnsafeBytes { bytes in
            guard let memory = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return nil }
            defer { BIO_free(memory) }
            return function(memory)
        }
    }

    /// Whether the handshake is over.
    func step() -> Bool { SSL_do_handshake(connection) == 1 }

    func handle(_ datagram: [UInt8]) {
        BIO_write(incoming, datagram, Int32(datagram.count))
    }

    /// What waits to be sent, of any number of records.
    func take() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(outgoing))
        if !bytes.isEmpty { BIO_read(outgoing, &bytes, Int32(bytes.count)) }
        return bytes
    }

    func sayGoodbye() { SSL_shutdown(connection) }

    /// Whether the peer has said that it ends the connection.
    func hasHeardGoodbye() -> Bool {
        var byte: UInt8 = 0
        return SSL_get_error(connection, SSL_read(connection, &byte, 1)) == SSL_ERROR_ZERO_RETURN
    }

    func exportedKeys(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        SSL_export_keying_material(connection, &bytes, count, "EXTRACTOR-dtls_srtp", 19, nil, 0, 0)
        return bytes
    }
}

@Suite struct OpenSSLPeerTests {
    private static func connect(_ peer: OpenSSLPeer, _ endpoint: inout DTLSEndpoint) throws {
        var isOver = false
        endpoint.start(at: .zero)
        for _ in 0..<10 where !isOver || endpoint.state != .connected {
            for datagram in endpoint.drain() { peer.handle(datagram) }
            isOver = peer.step() || isOver
            let answer = peer.take()
            if !answer.isEmpty { try answer.withUnsafeBytes { try endpoint.handle($0, at: .zero) } }
        }
        #expect(isOver)
        #expect(endpoint.state == .connected)
    }

    private static func endpoint(_ role: DTLSEndpoint.Role) throws -> DTLSEndpoint {
        try DTLSEndpoint(
            identity: Identities.server.get(), role: role,
            remoteFingerprints: [Identities.client.get().fingerprint], now: .zero)
    }

    @Test(arguments: [true, false]) func bothRolesAgreeOnTheKeys(peerIsClient: Bool) throws {
        let peer = try OpenSSLPeer(Identities.client.get(), isClient: peerIsClient)
        var endpoint = try Self.endpoint(peerIsClient ? .server : .client)
        try Self.connect(peer, &endpoint)
        let material = endpoint.keyingMaterial
        let keys = try #require(material)
        // As the server, this side's order of preference counts, and as the client the peer's.
        #expect(keys.profile == (peerIsClient ? .aeadAES128GCM : .aes128CMHMACSHA1_80))
        let salt = keys.profile.masterSaltLength
        let exported = peer.exportedKeys(2 * (16 + salt))
        let client = (peerIsClient ? keys.remoteMasterKey : keys.localMasterKey)
        let server = (peerIsClient ? keys.localMasterKey : keys.remoteMasterKey)
        #expect(Array(exported[0..<16]) == client)
        #expect(Array(exported[16..<32]) == server)
        let clientSalt = (peerIsClient ? keys.remoteMasterSalt : keys.localMasterSalt)
        #expect(Array(exported[32..<32 + salt]) == clientSalt)
    }

    @Test(arguments: [true, false]) func thePeersEndIsUnderstood(peerIsClient: Bool) throws {
        let peer = try OpenSSLPeer(Identities.client.get(), isClient: peerIsClient)
        var endpoint = try Self.endpoint(peerIsClient ? .server : .client)
        try Self.connect(peer, &endpoint)
        peer.sayGoodbye()
        let goodbye = peer.take()
        try goodbye.withUnsafeBytes { try endpoint.handle($0, at: .zero) }
        #expect(endpoint.state == .closed)
    }

    @Test(arguments: [true, false]) func thePeerUnderstandsOurEnd(peerIsClient: Bool) throws {
        let peer = try OpenSSLPeer(Identities.client.get(), isClient: peerIsClient)
        var endpoint = try Self.endpoint(peerIsClient ? .server : .client)
        try Self.connect(peer, &endpoint)
        #expect(!peer.hasHeardGoodbye())
        endpoint.close()
        for datagram in endpoint.drain() { peer.handle(datagram) }
        #expect(peer.hasHeardGoodbye())
    }
}
