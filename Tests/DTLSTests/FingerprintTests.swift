import DTLS
import Testing
import Transport

@Suite struct FingerprintTests {
    @Test func theWrongCertificateOfAServerEndsBothSidesWithoutKeys() throws {
        let client = try Identities.client.get()
        var handshake = try Handshake(clientExpects: [client.fingerprint])
        handshake.run()
        #expect(handshake.client.state == .failed(.fingerprintMismatch))
        #expect(handshake.keys.client == nil && handshake.keys.server == nil)
        // The alert informs the server at once.
        guard case .failed(.handshakeFailed(let reason)) = handshake.server.state else {
            Issue.record("\(handshake.server.state)")
            return
        }
        #expect(reason.contains("alert"))
        #expect(handshake.now < Instant(nanoseconds: 1_100_000_000))
    }

    @Test func theWrongCertificateOfAClientEndsBothSidesWithoutKeys() throws {
        let server = try Identities.server.get()
        var handshake = try Handshake(serverExpects: [server.fingerprint])
        handshake.run()
        #expect(handshake.server.state == .failed(.fingerprintMismatch))
        #expect(handshake.client.state != .connected)
        #expect(handshake.keys.client == nil && handshake.keys.server == nil)
    }

    @Test func oneOfSeveralFingerprintsIsEnough() throws {
        let client = try Identities.client.get()
        let server = try Identities.server.get()
        var handshake = try Handshake(
            clientExpects: [client.fingerprint, server.fingerprint],
            serverExpects: [client.fingerprint, server.fingerprint])
        handshake.run()
        #expect(handshake.client.state == .connected && handshake.server.state == .connected)
    }

    @Test func theStrongestHashFunctionCounts() throws {
        let server = try Identities.server.get()
        let wrong = try #require(DTLSFingerprint(algorithm: .sha512, bytes: [UInt8](repeating: 1, count: 64)))
        var handshake = try Handshake(clientExpects: [server.fingerprint, wrong])
        handshake.run()
        #expect(handshake.client.state == .failed(.fingerprintMismatch))
    }

    @Test func aDescriptionWithoutAFingerprintIsRefused() throws {
        let identity = try Identities.server.get()
        #expect(throws: DTLSError.noUsableFingerprint) {
            _ = try DTLSEndpoint(identity: identity, role: .server, remoteFingerprints: [], now: .zero)
        }
    }

    @Test func theTextFormIsReadInEitherCaseAndWrittenInCapitals() throws {
        let text = (0..<32).map { $0 == 0 ? "0A" : "F\(String($0 % 16, radix: 16).uppercased())" }.joined(
            separator: ":")
        let fingerprint = try #require(DTLSFingerprint(algorithm: "SHA-256", text: text.lowercased()))
        #expect(fingerprint.algorithm == .sha256)
        #expect(fingerprint.bytes.prefix(2) == [0x0A, 0xF1])
        #expect(fingerprint.text == text)
    }

    static let malformed: [(String, String)] = [
        ("sha-1", repeated("AA", 20)), ("md5", repeated("AA", 16)), ("sha-256", ""), ("sha-256", "AA"),
        ("sha-256", "+A:" + repeated("AA", 31)), ("sha-256", repeated("AA", 33)), ("sha-256", repeated("A", 32)),
        ("sha-256", repeated("GG", 32)), ("sha-512", repeated("AA", 32)),
    ]

    private static func repeated(_ byte: String, _ count: Int) -> String {
        Array(repeating: byte, count: count).joined(separator: ":")
    }

    @Test(arguments: malformed)
    func aMalformedOrUntrustedFingerprintIsNil(algorithm: String, text: String) {
        #expect(DTLSFingerprint(algorithm: algorithm, text: text) == nil)
    }
}
