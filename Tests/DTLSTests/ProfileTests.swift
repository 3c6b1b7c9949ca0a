import DTLS
import SRTP
import Testing
import Transport

@Suite struct ProfileTests {
    @Test func theServersOrderDecides() throws {
        var handshake = try Handshake(clientProfiles: [.aes128CMHMACSHA1_80, .aeadAES128GCM])
        handshake.run()
        #expect(handshake.keys.client?.profile == .aeadAES128GCM)
        #expect(handshake.keys.server?.profile == .aeadAES128GCM)

        handshake = try Handshake(serverProfiles: [.aes128CMHMACSHA1_80, .aeadAES128GCM])
        handshake.run()
        #expect(handshake.keys.client?.profile == .aes128CMHMACSHA1_80)
    }

    @Test func aPeerWithoutGCMGetsCounterModeWithALongerSalt() throws {
        var handshake = try Handshake(clientProfiles: [.aes128CMHMACSHA1_80])
        handshake.run()
        let (clientKeys, serverKeys) = handshake.keys
        let client = try #require(clientKeys)
        let server = try #require(serverKeys)
        #expect(server.profile == .aes128CMHMACSHA1_80)
        #expect(client.localMasterSalt.count == 14)
        #expect(client.localMasterSalt == server.remoteMasterSalt && client.localMasterKey == server.remoteMasterKey)
        #expect(client.remoteMasterSalt == server.localMasterSalt && client.remoteMasterKey == server.localMasterKey)
    }

    @Test func withoutACommonProfileTheHandshakeFailsWithoutKeys() throws {
        var handshake = try Handshake(clientProfiles: [.aeadAES128GCM], serverProfiles: [.aes128CMHMACSHA1_80])
        handshake.run()
        #expect(handshake.client.state == .failed(.noCommonSRTPProfile))
        #expect(handshake.server.state == .failed(.noCommonSRTPProfile))
        #expect(handshake.keys.client == nil && handshake.keys.server == nil)
    }
}
