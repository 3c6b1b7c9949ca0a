import DTLS
import SRTP
import Testing
import Transport

@Suite struct HandshakeTests {
    @Test func bothSidesEndWithTheSameKeysAndTheBetterProfile() throws {
        var handshake = try Handshake()
        handshake.run()
        #expect(handshake.client.state == .connected)
        #expect(handshake.server.state == .connected)
        let (clientKeys, serverKeys) = handshake.keys
        let client = try #require(clientKeys)
        let server = try #require(serverKeys)
        #expect(client.profile == .aeadAES128GCM)
        #expect(server.profile == .aeadAES128GCM)
        #expect(client.localMasterKey == server.remoteMasterKey)
        #expect(client.localMasterSalt == server.remoteMasterSalt)
        #expect(client.remoteMasterKey == server.localMasterKey)
        #expect(client.remoteMasterSalt == server.localMasterSalt)
        #expect(client.localMasterKey != client.remoteMasterKey)
        #expect(client.localMasterKey.count == 16 && client.localMasterSalt.count == 12)
        #expect(handshake.client.retransmissions == 0 && handshake.server.retransmissions == 0)
        // Two round trips.
        #expect(handshake.sent.last?.arrival == Instant(nanoseconds: 1_040_000_000))
    }

    @Test func aLostLastFlightIsRepeatedAfterTheConnectionWasFreed() throws {
        var handshake = try Handshake()
        var lost = 0
        handshake.fate = { toServer, number in
            // The server's first flight is one datagram of certificates and more; its second one is the last flight.
            guard !toServer, number >= 1, lost < 2 else { return .deliver }
            lost += 1
            return .drop
        }
        handshake.run()
        #expect(handshake.client.state == .connected)
        #expect(handshake.server.state == .connected)
        #expect(lost == 2)
        #expect(handshake.client.retransmissions == 2)
    }

    @Test func twoEndpointsShakeHandsInMemory() throws {
        let identity = try Identities.client.get()
        var client = try DTLSEndpoint(
            identity: identity, role: .client, remoteFingerprints: [identity.fingerprint], now: .zero)
        var server = try DTLSEndpoint(
            identity: identity, role: .server, remoteFingerprints: [identity.fingerprint], now: .zero)
        client.start(at: .zero)
        var rounds = 0
        while rounds < 10 {
            let sent = try client.deliver(to: &server, at: .zero)
            let answered = try server.deliver(to: &client, at: .zero)
            if sent + answered == 0 { break }
            rounds += 1
        }
        #expect(rounds == 2)
        #expect(client.state == .connected && server.state == .connected)
    }
}
