import DTLS
import Foundation
import Testing
import Transport

/// Chromium's ClientHello comes in two datagrams. An endpoint that expects one loses a second of each start.
@Suite struct ClientHelloTests {
    let datagrams: [[UInt8]]

    init() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Fixtures/chromium-dtls-clienthello.hex")
        datagrams = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
            stride(from: 0, to: line.utf8.count - 1, by: 2).compactMap { offset in
                let start = line.index(line.startIndex, offsetBy: offset)
                return UInt8(line[start..<line.index(start, offsetBy: 2)], radix: 16)
            }
        }
        try #require(datagrams.map(\.count) == [1200, 263])
    }

    private func answers(to datagrams: [[UInt8]], size: Int = 1200) throws -> [[UInt8]] {
        let identity = try Identities.server.get()
        var server = try DTLSEndpoint(
            identity: identity, role: .server, remoteFingerprints: [identity.fingerprint], now: .zero,
            maximumDatagramSize: size)
        var answers: [[UInt8]] = []
        for datagram in datagrams {
            try datagram.withUnsafeBytes { try server.handle($0, at: .zero) }
            answers += server.drain()
        }
        #expect(server.state == .handshaking)
        return answers
    }

    @Test func inOrderItIsAnsweredByTheServersFlight() throws {
        #expect(try answers(to: [datagrams[0]]).isEmpty)
        let flight = try answers(to: datagrams)
        #expect(!flight.isEmpty)
        // A handshake record, whose first message is a ServerHello of DTLS 1.2.
        #expect(flight.first?.first == 22)
        #expect(flight.first?[13] == 2)
        #expect(flight.first?[25...26] == [0xFE, 0xFD])
    }

    @Test func reversedOrWithCopiesItIsAnsweredAsWell() throws {
        #expect(try !answers(to: [datagrams[1], datagrams[0]]).isEmpty)
        #expect(try !answers(to: [datagrams[0], datagrams[0], datagrams[1]]).isEmpty)
    }

    @Test func lostDataMayArriveWithTheRetransmission() throws {
        // The retransmission has new record numbers; the messages are the same.
        let again = datagrams.map { datagram in
            var copy = datagram
            copy[10] += 2
            return copy
        }
        #expect(try !answers(to: [datagrams[1]] + again).isEmpty)
        #expect(try !answers(to: [datagrams[0]] + again).isEmpty)
    }

    @Test(arguments: [256, 400, 600, 1200]) func theAnswerStaysBelowTheDatagramSize(size: Int) throws {
        let flight = try answers(to: datagrams, size: size)
        #expect(flight.allSatisfy { $0.count <= size })
        #expect(size > 600 || flight.count > 1)
    }
}
