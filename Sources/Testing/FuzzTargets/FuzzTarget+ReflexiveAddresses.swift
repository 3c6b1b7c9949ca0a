import STUN
import Transport

extension FuzzTarget {
    static let reflexiveAddresses = FuzzTarget(
        "reflexive-addresses", "answers of STUN servers, some of them to the newest request, over time",
        maximumLength: 2048,
        seeds: {
            let mapped: [UInt8] = [0, 0x20, 0, 8, 0, 1, 0x35, 0x7D, 0xEA, 0x12, 0xD5, 0x49]
            return [
                [0] + [UInt8].piece(mapped) + [3, 200, 0] + [UInt8].piece(mapped) + [3, 255, 3, 255],
                [1] + [UInt8].piece([0, 9, 0, 4, 0, 0, 4, 1]) + [3, 255, 3, 255, 3, 255, 5],
            ] + stunSeeds.map { [2] + [UInt8].piece($0) }
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        let servers = (1...3).map { TransportAddress(ipv4: 0xC633_6400 + $0, port: 3478) }
        var now = Instant(nanoseconds: 1_000_000_000)
        var finder = ReflexiveAddressFinder(mark: 0, random: .seeded(1))
        finder.setServers(servers, at: now)
        var asked: [TransportAddress: STUNTransactionID] = [:]
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            var turns = 0
            while let transmit = finder.pollTransmit(into: buffer, at: now) {
                turns += 1
                try require(turns <= servers.count, "requests without end")
                let raw = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<transmit.byteCount])
                guard let message = try? STUNMessage(parsing: raw) else { throw FuzzFailure("it sends no STUN") }
                asked[transmit.destination] = message.transactionID
            }
            if let due = finder.nextDeadline { try require(due > now, "a deadline that stays due") }
            observe(finder.pollEvent())
            for observation in finder.observations {
                if let address = observation.address {
                    try require(address.isUsableDestination, "an address that nobody can be reached at")
                }
            }
            if input.isEmpty { return }
            let source = servers[Int(input.byte() >> 4) % servers.count]
            switch input.byte() % 6 {
            case let kind where kind < 2:
                guard let id = asked[source] else { break }
                var answer = [UInt8](repeating: 0, count: 2048 + 256)
                let attributes = input.piece()
                let length = answer.withUnsafeMutableBytes { raw in
                    var builder = STUNMessageBuilder(
                        into: raw, messageClass: kind == 0 ? .successResponse : .errorResponse, transactionID: id)
                    var rest = FuzzInput(attributes)
                    while !rest.isEmpty {
                        let type = rest.word()
                        builder.addAttribute(type, rest.piece())
                    }
                    return builder.finish()
                }
                answer.withUnsafeBytes {
                    observe(
                        finder.handle(UnsafeRawBufferPointer(rebasing: $0[..<(length ?? 0)]), from: source, at: now))
                }
            case 2: observe(finder.handle(input.piece(), from: source, at: now))
            case 3, 4: now += .milliseconds(Int(input.byte()) * 100)
            default: finder.setServers(Array(servers.prefix(Int(input.byte()) % 4)), at: now)
            }
        }
    }
}
