import DTLS
import Testing
import Transport

@Suite("Application data")
struct ApplicationDataTests {
    private func connected() throws -> Handshake {
        var handshake = try Handshake()
        handshake.run()
        return handshake
    }

    private func seal(_ data: [UInt8], _ endpoint: inout DTLSEndpoint) -> [UInt8]? {
        var datagram = [UInt8](repeating: 0, count: 1_500)
        let count = datagram.withUnsafeMutableBytes { bytes in
            data.withUnsafeBytes { endpoint.seal($0, into: bytes) }
        }
        return count.map { Array(datagram[..<$0]) }
    }

    private func open(_ datagram: [UInt8], _ endpoint: inout DTLSEndpoint) -> [UInt8]? {
        var datagram = datagram
        let range = datagram.withUnsafeMutableBytes { endpoint.open($0) }
        return range.map { Array(datagram[$0]) }
    }

    @Test("goes both ways, in any order, once")
    func exchanges() throws {
        var handshake = try connected()
        let texts: [[UInt8]] = [[], [1], [UInt8](repeating: 7, count: 1_163)]
        var sealed: [[UInt8]] = []
        for text in texts {
            let datagram = seal(text, &handshake.client)
            let bytes = try #require(datagram)
            #expect(bytes.count == text.count + DTLSEndpoint.recordOverhead)
            #expect(bytes.withUnsafeBytes { DTLSEndpoint.isApplicationData($0) })
            sealed.append(bytes)
        }
        for (datagram, text) in zip(sealed, texts).reversed() {
            #expect(open(datagram, &handshake.server) == text)
            // It came before.
            #expect(open(datagram, &handshake.server) == nil)
            // It was not meant for its sender.
            #expect(open(datagram, &handshake.client) == nil)
        }
        let answer = seal([9], &handshake.server)
        #expect(open(try #require(answer), &handshake.client) == [9])
        // The end of the connection is believed after data, too.
        handshake.client.close()
        handshake.run()
        #expect(handshake.server.state == .closed)
        #expect(seal([1], &handshake.client) == nil && open(sealed[0], &handshake.server) == nil)
    }

    @Test("that was changed anywhere is refused")
    func forged() throws {
        var handshake = try connected()
        let datagram = seal([1, 2, 3], &handshake.client)
        let bytes = try #require(datagram)
        var random = RandomSource.seeded(3)
        for position in bytes.indices {
            var forged = bytes
            forged[position] ^= UInt8(truncatingIfNeeded: random.next() | 1)
            #expect(open(forged, &handshake.server) == nil, "byte \(position)")
            #expect(open(Array(bytes.prefix(position)), &handshake.server) == nil)
        }
        #expect(open(bytes, &handshake.server) == [1, 2, 3])
    }

    @Test("needs a handshake")
    func beforeTheHandshake() throws {
        var handshake = try Handshake()
        #expect(seal([1], &handshake.client) == nil)
        #expect(open([UInt8](repeating: 23, count: 60), &handshake.server) == nil)
    }
}
