import MulticastDNS
import Testing
import Transport

@Suite struct MulticastDNSMessageTests {
    /// An answer with one address, whose second name is a pointer to the first (RFC 1035, section 4.1.4).
    static let compressed: [UInt8] =
        [0, 0, 0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0] + [9] + Array("GateHouse".utf8) + [5] + Array("local".utf8)
        + [0, 0, 1, 0x80, 1] + [0xC0, 12, 0, 1, 0x80, 1, 0, 0, 0, 120, 0, 4, 192, 0, 2, 7]

    private func parse(_ bytes: [UInt8]) throws(DNSError) -> MulticastDNSMessage {
        let result = bytes.withUnsafeBytes { raw in
            Result { () throws(DNSError) in try MulticastDNSMessage(parsing: raw) }
        }
        return try result.get()
    }

    @Test func compressedNamesAndTheTopBitsAreRead() throws {
        let message = try parse(Self.compressed)
        let name = try #require(DNSName("gatehouse.local"))
        #expect(message.isResponse)
        #expect(message.questions.map(\.name) == [name])
        #expect(message.questions.map(\.wantsUnicast) == [true])
        let record = try #require(message.answers.first)
        #expect(record.name == name)
        #expect(record.flushesCache)
        #expect(record.timeToLive == 120)
        #expect(record.address == TransportAddress(ipv4: 0xC000_0207, port: 0))
    }

    @Test func whatIsWrittenIsReadAgain() throws {
        let name = try #require(DNSName("a-b.example.local"))
        let ipv6 = TransportAddress(ipv6High: 0x2001_0DB8_0000_0000, low: 9, port: 0)
        var message = MulticastDNSMessage(isResponse: false)
        message.id = 77
        message.questions = [DNSQuestion(name, type: DNSType.any)]
        message.answers = [DNSRecord(name, TransportAddress(ipv4: 0x0A00_0001, port: 0), timeToLive: 3)]
        message.authorities = [DNSRecord(name, ipv6, timeToLive: 70_000)]
        message.additionals = [DNSRecord(name, type: 16, timeToLive: 0, data: [1, 2, 3])]
        let read = try parse(message.encoded())
        #expect(read == message)
        #expect(read.authorities.first?.address == ipv6)
        #expect(read.additionals.first?.address == nil)
    }

    @Test(
        arguments: [
            // A pointer to itself, one forwards, and two that lead to each other.
            [0xC0, 12], [0xC0, 40], [0x01, 0x61, 0xC0, 12], [0x80, 1], [0x40, 1],
        ] as [[UInt8]])
    func endlessAndReservedNamesAreRefused(name: [UInt8]) {
        let bytes: [UInt8] = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0] + name + [0, 1, 0, 1]
        #expect(throws: DNSError.invalidName) { try parse(bytes) }
    }

    @Test func longNamesOtherOperationsAndTooManyRecordsAreRefused() throws {
        let label = [UInt8(63)] + [UInt8](repeating: 0x61, count: 63)
        let long: [UInt8] = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0] + label + label + label + label + [0, 0, 1, 0, 1]
        #expect(throws: DNSError.invalidName) { try parse(long) }
        #expect(throws: DNSError.otherOperation) { try parse([0, 0, 0x28, 0, 0, 0, 0, 0, 0, 0, 0, 0]) }
        #expect(throws: DNSError.otherOperation) { try parse([0, 0, 0x80, 3, 0, 0, 0, 0, 0, 0, 0, 0]) }
        #expect(throws: DNSError.tooManyRecords) { try parse([0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 0, 0]) }
        #expect(DNSName("") == nil)
        #expect(DNSName("a..b") == nil)
        #expect(DNSName(String(repeating: "a", count: 64)) == nil)
    }

    @Test func everyPrefixIsRefused() {
        for count in 0..<Self.compressed.count {
            #expect(throws: DNSError.self) { try parse(Array(Self.compressed.prefix(count))) }
        }
    }

    @Test func mutatedMessagesNeverTrap() throws {
        var random = RandomSource.seeded(6762)
        let name = try #require(DNSName("0b6f1c2e-8a37-4f0d-9a51-3c2d1e0f9a8b.local"))
        var answer = MulticastDNSMessage(isResponse: true)
        answer.answers = [DNSRecord(name, TransportAddress(ipv4: 0x0A00_0001, port: 0), timeToLive: 120)]
        var query = MulticastDNSMessage(isResponse: false)
        query.questions = [DNSQuestion(name, type: DNSType.a)]
        query.authorities = answer.answers
        let vectors = [Self.compressed, answer.encoded(), query.encoded()]
        var read = 0
        for round in 0..<20_000 {
            var bytes = vectors[round % vectors.count]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                switch Int.random(in: 0..<4, using: &random) {
                case 0 where !bytes.isEmpty:
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                case 1 where !bytes.isEmpty:
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] ^=
                        1 << UInt8.random(in: 0..<8, using: &random)
                case 2: bytes.removeLast(Int.random(in: 0...min(8, bytes.count), using: &random))
                default:
                    bytes += (0..<Int.random(in: 0..<8, using: &random)).map { _ in
                        UInt8(truncatingIfNeeded: random.next())
                    }
                }
            }
            guard let message = try? parse(bytes) else { continue }
            read += 1
            _ = message.records.map(\.address)
            // What has been read can be written and read again: names come out without compression.
            #expect((try? parse(message.encoded())) == message || message.records.contains { $0.data.count > 65_535 })
        }
        // Some must get through, or the mutations reach nothing behind the header.
        #expect(read > 1000)
    }
}
