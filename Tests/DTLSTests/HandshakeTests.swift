import DTLS
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
}
