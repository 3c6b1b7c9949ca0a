import DTLS
import Testing
import Transport

@Suite struct ClosingTests {
    @Test func eitherSideCanEndTheConnection() throws {
        for clientCloses in [true, false] {
            var handshake = try Handshake()
            handshake.run()
            if clientCloses { handshake.client.close() } else { handshake.server.close() }
            handshake.run()
            #expect(handshake.client.state == .closed)
            #expect(handshake.server.state == .closed)
            let (client, server) = (handshake.client.deadline, handshake.server.deadline)
            #expect(client == nil && server == nil)
            // Nothing is answered from here on.
            let sent = handshake.sent.count
            for datagram in handshake.sent { handshake.inject(datagram.bytes, toServer: datagram.toServer) }
            handshake.run()
            #expect(handshake.sent.count == sent)
        }
    }

    @Test func anUnfinishedHandshakeEndsSilently() throws {
        var handshake = try Handshake()
        handshake.client.start(at: .zero)
        handshake.client.close()
        #expect(handshake.client.state == .closed)
        #expect(handshake.client.drain().isEmpty)
        #expect(handshake.keys.client == nil)
        handshake.client.close()
        #expect(handshake.client.drain().isEmpty)
    }

    @Test func aForgedEndIsNotBelieved() throws {
        var handshake = try Handshake()
        handshake.run()
        var other = try Handshake()
        other.run()
        other.client.close()
        let otherEnd = try #require(other.client.drain().first)
        handshake.client.close()
        let end = try #require(handshake.client.drain().first)
        #expect(end.count == 39)

        let plain: [UInt8] = [21, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, 9, 0, 2, 1, 0]
        var forged = [plain, otherEnd, Array(end.dropLast())]
        for bit in 24..<end.count * 8 {
            var copy = end
            copy[bit / 8] ^= 1 << UInt8(bit % 8)
            forged.append(copy)
        }
        for datagram in forged { try datagram.withUnsafeBytes { try handshake.server.handle($0, at: handshake.now) } }
        #expect(handshake.server.state == .connected)
        try end.withUnsafeBytes { try handshake.server.handle($0, at: handshake.now) }
        #expect(handshake.server.state == .closed)
    }
}
