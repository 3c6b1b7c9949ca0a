import MulticastDNS
import Transport

extension FuzzTarget {
    static let multicastDNS = FuzzTarget(
        "multicast-dns", "messages to the owner of a name and to the resolver of candidates' names, over time",
        maximumLength: 4096,
        seeds: {
            let name: [UInt8] = [9] + [UInt8](text: "gatehouse") + [5] + [UInt8](text: "local") + [0]
            let header: [UInt8] = [0, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
            // A pointer to the name of the question, as others compress their messages.
            let answer: [UInt8] = [0xC0, 12, 0, 1, 0x80, 1, 0, 0, 0, 120, 0, 4, 192, 168, 1, 20]
            let compressed: [UInt8] =
                [0, 0, 0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0] + name + [0, 255, 0, 1] + answer
            // The probes and the announcements are over.
            let announced: [UInt8] = [1, 10, 1, 250, 1, 250, 1, 250, 1, 250]
            return [
                announced + [0, 0] + [UInt8].piece(header + name + [0, 1, 0x80, 1]) + [0, 1]
                    + [UInt8].piece(header + name + [0, 28, 0, 1]) + [0, 0x10] + [UInt8].piece(compressed),
                announced + [2, 1, 1, 250, 2, 3, 1, 250, 5, 0, 0, 0, 1, 250, 6],
                [1, 30, 5, 1] + [UInt8].piece([192, 168, 1, 9]) + [5, 0] + [UInt8].piece([192, 168, 1, 9]) + announced,
                [3, 1, 3, 2, 4, 1, 1, 120] + [UInt8].piece([192, 168, 1, 20]) + [3, 1, 1, 250, 4, 2, 28, 0]
                    + [UInt8].piece([0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 1, count: 12)),
                [0, 0] + [UInt8].piece(compressed),
            ]
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        let world = MulticastDNSWorld()
        try world.setLinks(3)
        try world.settle()
        while !input.isEmpty {
            switch input.byte() % 7 {
            case 0:
                let choice = input.byte()
                try world.deliver(input.piece(), link: Int(choice & 1), isOrdinary: choice & 0x10 == 0)
            case 1: world.now += .milliseconds(Int(input.byte()) * 10)
            case 2: try world.setLinks(input.byte())
            case 3: try world.resolve(input.byte())
            case 4:
                var message = MulticastDNSMessage(isResponse: true)
                let text = world.candidate(input.byte())
                let (type, life) = (UInt16(input.byte()), UInt32(input.byte()))
                guard let name = MulticastDNSResolver.candidateName(text) else { break }
                message.answers = [DNSRecord(name, type: type, timeToLive: life, data: Array(input.piece()))]
                world.deliver(message)
            case 5:
                // Another host has the name, or probes for it.
                var message = MulticastDNSMessage(isResponse: input.byte() & 1 == 0)
                let record = DNSRecord(
                    world.responder.name, type: DNSType.a, timeToLive: 120, data: Array(input.piece()))
                if message.isResponse { message.answers = [record] } else { message.authorities = [record] }
                world.deliver(message)
            default:
                world.responder.sayGoodbye()
                try require(!world.responder.isAnnounced, "a name that was given up")
            }
            try world.settle()
        }
        // Each question ends, whatever came.
        for _ in 0..<10 {
            world.now += .seconds(1)
            try world.settle()
        }
        try require(world.waiting.isEmpty, "\(world.waiting.count) questions without an outcome")
    }
}

/// The two machines of multicast DNS, and what must hold for them.
private final class MulticastDNSWorld {
    private static let start = Instant(nanoseconds: 1_000_000_000)
    private static let other = TransportAddress(ipv4: 0xC0A8_0114, port: MulticastDNS.port)

    var now = start
    var responder = MulticastDNSResponder(name: "gatehouse", random: .seeded(1))
    private var resolver = MulticastDNSResolver()
    /// The names that an outcome must follow for.
    private(set) var waiting: Set<DNSName> = []
    private var unicasts = 0

    /// Gives the gateway the links whose bits are set.
    func setLinks(_ bits: UInt8) throws(FuzzFailure) {
        let links = (0..<2).filter { bits & (1 << $0) != 0 }
        let addresses = [
            TransportAddress(ipv4: 0xC0A8_0105, port: 0),
            TransportAddress(ipv6High: 0xFE80 << 48, low: UInt64(bits) + 1, port: 0),
        ]
        responder.setLinks(links.map { .init(id: $0, addresses: addresses) }, at: now)
        resolver.setLinks(links)
        try require(!links.isEmpty || responder.nextDeadline == nil, "something to do without a link")
    }

    /// A name as browsers make them.
    func candidate(_ number: UInt8) -> String {
        let digit = "0123456789abcdef".map(String.init)[Int(number) % 16]
        return "12345678-9abc-4def-8123-45678901234\(digit).local"
    }

    func resolve(_ number: UInt8) throws(FuzzFailure) {
        let text = candidate(number)
        switch resolver.resolve(text, at: now) {
        case .address(let address): try require(address.withPort(1).isUsableDestination, "nobody is at \(address)")
        case .unknown, .refused: break
        case .asking:
            guard let name = DNSName(text) else { throw FuzzFailure("a name that cannot be asked for") }
            waiting.insert(name)
        }
    }

    func deliver(_ bytes: UnsafeRawBufferPointer, link: Int, isOrdinary: Bool) throws(FuzzFailure) {
        guard let message = try? MulticastDNSMessage(parsing: bytes) else { return }
        let again = message.encoded().withUnsafeBytes { try? MulticastDNSMessage(parsing: $0) }
        try require(again == message, "a message that is written reads otherwise")
        for record in message.records { observe((record.name.description, record.address)) }
        let source = isOrdinary ? Self.other.withPort(40_000) : Self.other
        responder.handle(message, on: link, from: source, at: now)
        resolver.handle(message, from: source, at: now)
    }

    func deliver(_ message: MulticastDNSMessage) {
        responder.handle(message, on: 0, from: Self.other, at: now)
        resolver.handle(message, from: Self.other, at: now)
    }

    /// Does what is due, and checks what comes out.
    func settle() throws(FuzzFailure) {
        try drain()
        var turns = 0
        while let due = [responder.nextDeadline, resolver.nextDeadline].compactMap({ $0 }).min(), due <= now {
            turns += 1
            try require(turns <= 1000, "a deadline that stays due")
            responder.handleDeadline(at: now)
            resolver.handleDeadline(at: now)
            try drain()
        }
        let name = responder.name
        try require(name.labels.allSatisfy { (1...63).contains($0.count) }, "a name that no message holds: \(name)")
    }

    private func drain() throws(FuzzFailure) {
        var count = 0
        while let transmit = responder.pollTransmit() ?? resolver.pollTransmit() {
            count += 1
            try require(count <= 128, "messages without end")
            try require(transmit.bytes.count <= MulticastDNS.maximumMessageSize, "\(transmit.bytes.count) bytes")
            let message = transmit.bytes.withUnsafeBytes { try? MulticastDNSMessage(parsing: $0) }
            try require(message != nil, "it sends what nobody can read")
            if transmit.destination != nil { unicasts += 1 }
        }
        // The sender of a query may be forged, so few answers go to one host.
        let seconds = Int((now - Self.start) / .seconds(1))
        try require(unicasts <= 20 * (seconds + 1), "\(unicasts) answers to single hosts in \(seconds) s")
        while let event = resolver.pollEvent() {
            try require(waiting.remove(event.name) != nil, "an outcome that nobody waits for")
            if let address = event.address {
                try require(address.withPort(1).isUsableDestination, "nobody is at \(address)")
            }
        }
    }
}
