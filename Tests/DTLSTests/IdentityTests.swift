import DTLS
import Testing
import Transport

@Suite struct IdentityTests {
    @Test func anIdentityThatWasWrittenIsTheSameWhenRead() throws {
        let identity = try DTLSIdentity.generate()
        let again = try DTLSIdentity(
            certificatePEM: identity.certificatePEM, privateKeyPEM: identity.privateKeyPEM)
        #expect(again.fingerprint == identity.fingerprint)
        #expect(again.certificatePEM == identity.certificatePEM)
        #expect(identity.fingerprint.text.split(separator: ":").count == 32)
        #expect(identity.certificatePEM.hasPrefix("-----BEGIN CERTIFICATE-----"))
        #expect(identity.privateKeyPEM.hasPrefix("-----BEGIN PRIVATE KEY-----"))
        var handshake = try Handshake(server: again)
        handshake.run()
        #expect(handshake.server.state == .connected)
    }

    @Test func eachIdentityIsUnique() throws {
        #expect(try DTLSIdentity.generate().fingerprint != DTLSIdentity.generate().fingerprint)
    }

    @Test func aBrokenIdentityIsRefusedWithTheReason() throws {
        let one = try Identities.client.get()
        let other = try Identities.server.get()
        #expect(throws: DTLSError.invalidIdentity("the private key is not the certificate's")) {
            _ = try DTLSIdentity(certificatePEM: one.certificatePEM, privateKeyPEM: other.privateKeyPEM)
        }
        #expect(throws: DTLSError.invalidIdentity("the certificate is not in PEM form")) {
            _ = try DTLSIdentity(certificatePEM: "nothing", privateKeyPEM: one.privateKeyPEM)
        }
        #expect(throws: DTLSError.invalidIdentity("the private key is not in PEM form, or encrypted")) {
            _ = try DTLSIdentity(certificatePEM: one.certificatePEM, privateKeyPEM: one.certificatePEM)
        }
        #expect(throws: DTLSError.self) { _ = try DTLSIdentity(certificatePEM: "", privateKeyPEM: "") }
    }
}
