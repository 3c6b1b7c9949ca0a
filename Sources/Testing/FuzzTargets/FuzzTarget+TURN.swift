import STUN
import TURN
import Transport

extension FuzzTarget {
    static let turn = FuzzTarget(
        "turn", "a TURN server that answers as it likes, peers, and a stream from it, over time", maximumLength: 4096,
        seeds: {
            let challenge: [UInt8] = [0, 9, 0, 4, 0, 0, 4, 1, 0, 0x14, 0, 1, 0x61, 0, 0x15, 0, 1, 0x62]
            let allocation: [UInt8] = [
                0, 0x16, 0, 8, 0, 1, 0x35, 0x7D, 0xEA, 0x12, 0xD5, 0x49, 0, 0x0D, 0, 4, 0, 0, 2, 88,
            ]
            return [
                [1] + [UInt8].piece(challenge) + [0] + [UInt8].piece(allocation) + [3, 1, 0] + [UInt8].piece([]) + [
                    3, 0x80, 4, 255, 4, 255,
                ],
                [1] + [UInt8].piece(challenge) + [4, 255, 4, 255, 5],
                [6] + [UInt8].piece([0x40, 0, 0, 2, 1, 2, 0, 0, 0x40, 0, 0, 1, 9]),
            ] + stunSeeds.map { [2] + [UInt8].piece($0) }
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        var now = Instant(nanoseconds: 1_000_000_000)
        var client = TURNClient(
            configuration: TURNConfiguration(username: "user", password: "secret"), random: .seeded(1), now: now)
        var reader = TURNStreamReader()
        var asked: (id: STUNTransactionID, method: UInt16)?
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            var turns = 0
            while let count = client.pollTransmit(into: buffer, at: now) {
                turns += 1
                try require(turns <= 1000, "messages without end")
                let raw = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
                guard let message = try? STUNMessage(parsing: raw) else { throw FuzzFailure("it sends no STUN") }
                if message.messageClass == .request { asked = (message.transactionID, message.method) }
            }
            while client.pollEvent() != nil {}
            for relayed in client.relayedAddresses {
                try require(relayed.isUsableDestination, "an address that nobody can reach")
            }
            turns = 0
            while let due = client.nextDeadline, due <= now {
                turns += 1
                try require(turns <= 1000, "a deadline that stays due")
                client.handleDeadline(at: now)
                while client.pollTransmit(into: buffer, at: now) != nil {}
                while client.pollEvent() != nil {}
            }
            if input.isEmpty { return }
            switch input.byte() % 7 {
            case let kind where kind < 2:
                guard let asked else { break }
                // Signed with the key that the client has after the challenge of the seeds.
                var answer = [UInt8](repeating: 0, count: 8192)
                let attributes = input.piece()
                let length = answer.withUnsafeMutableBytes { raw in
                    var builder = STUNMessageBuilder(
                        into: raw, messageClass: kind == 0 ? .successResponse : .errorResponse, method: asked.method,
                        transactionID: asked.id)
                    var rest = FuzzInput(attributes)
                    while !rest.isEmpty {
                        let type = rest.word()
                        builder.addAttribute(type, rest.piece())
                    }
                    var key = turnKey()
                    builder.addMessageIntegrity(&key)
                    return builder.finish()
                }
                let count = length ?? 0
                answer.withUnsafeBytes {
                    observe(client.handle(UnsafeRawBufferPointer(rebasing: $0[..<count]), at: now))
                }
            case 2:
                let piece = input.piece()
                if case .data(_, let range) = client.handle(piece, at: now) {
                    try require(range.lowerBound >= 0 && range.upperBound <= piece.count, "data beyond the datagram")
                }
            case 3:
                let first = input.byte()
                let peer = TransportAddress(ipv4: 0xC633_6400 | UInt32(input.byte()), port: 5000)
                let count = [first, 1, 2].withUnsafeBytes { client.send($0, to: peer, into: buffer, at: now) }
                try require(count <= 64, "more than the datagram takes")
            case 4: now += .seconds(Int(input.byte()))
            case 5: client.close(at: now)
            default:
                reader.append(input.piece())
                turns = 0
                while (try? reader.next { observe(client.handle($0, at: now)) }) == true {
                    turns += 1
                    try require(turns <= 4096, "messages without end")
                }
            }
        }
    }

    /// The MD5 of `user:a:secret`.
    private static func turnKey() -> MessageIntegrityKey {
        let digest: [UInt8] = [
            0xBD, 0xF8, 0x14, 0x02, 0x20, 0x5A, 0xB4, 0x85,
            0x64, 0x56, 0x37, 0xFE, 0x0F, 0x40, 0x54, 0xDF,
        ]
        var key = MessageIntegrityKey()
        digest.withUnsafeBytes { key = MessageIntegrityKey($0) }
        return key
    }
}
