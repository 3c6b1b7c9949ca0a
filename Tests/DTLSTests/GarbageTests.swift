import DTLS
import Testing
import Transport

@Suite struct GarbageTests {
    @Test func whatIsNotDTLSIsDroppedAtAnyTime() throws {
        var handshake = try Handshake()
        var random = RandomSource.seeded(1)
        for _ in 0..<500 {
            var bytes = (0..<Int.random(in: 0..<200, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            // Not by chance a whole record.
            if bytes.count > 1 { bytes[1] = 0 }
            handshake.inject(bytes, toServer: Bool.random(using: &random))
        }
        handshake.run()
        #expect(handshake.client.state == .connected && handshake.server.state == .connected)
    }

    @Test func mutatedHandshakesNeitherCrashNorHangNorGiveDifferentKeys() throws {
        var clean = try Handshake()
        clean.run()
        let corpus = clean.sent
        for seed in 0..<250 {
            var handshake = try Handshake()
            var random = RandomSource.seeded(UInt64(seed))
            for _ in 0..<8 {
                guard let original = corpus.randomElement(using: &random) else { continue }
                var bytes = original.bytes
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0:
                        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
                            in: 0...255, using: &random)
                    case 1: bytes.removeLast(min(bytes.count - 1, Int.random(in: 0..<40, using: &random)))
                    default: bytes.append(UInt8.random(in: 0...255, using: &random))
                    }
                }
                handshake.inject(bytes, toServer: original.toServer)
            }
            handshake.run()
            // Forged plain-text messages may end a handshake; nothing more.
            #expect(handshake.steps < 2_000)
            if handshake.client.state == .connected, handshake.server.state == .connected {
                #expect(handshake.keys.client?.localMasterKey == handshake.keys.server?.remoteMasterKey)
            } else {
                #expect(handshake.keys.client == nil || handshake.keys.server == nil)
            }
        }
    }

    @Test func afterTheHandshakeNothingUnauthenticatedChangesAnything() throws {
        var handshake = try Handshake()
        handshake.run()
        let keys = handshake.keys
        var random = RandomSource.seeded(3)
        let corpus = handshake.sent
        for _ in 0..<2_000 {
            guard let original = corpus.randomElement(using: &random) else { continue }
            var bytes = original.bytes
            bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            bytes.withUnsafeBytes { datagram in
                try? handshake.client.handle(datagram, at: handshake.now)
                try? handshake.server.handle(datagram, at: handshake.now)
            }
            // The last flight may be repeated, as one datagram, and a bounded number of times.
            #expect(handshake.client.drain().isEmpty)
            #expect(handshake.server.drain().count <= 1)
        }
        #expect(handshake.client.state == .connected && handshake.server.state == .connected)
        #expect(handshake.keys == keys)
        #expect(handshake.server.retransmissions <= 32)
    }

    @Test func aFatalAlertBeforeTheHandshakeIsAFailureNotATrap() throws {
        let identity = try Identities.server.get()
        var server = try DTLSEndpoint(
            identity: identity, role: .server, remoteFingerprints: [identity.fingerprint], now: .zero)
        let alert: [UInt8] = [21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 40]
        #expect(throws: DTLSError.self) { try alert.withUnsafeBytes { try server.handle($0, at: .zero) } }
    }
}
