import MulticastDNS
import Testing
import Transport

@Suite struct MulticastDNSResolverTests {
    private static let name = "0b6f1c2e-8a37-4f0d-9a51-3c2d1e0f9a8b.local"
    private static let source = TransportAddress(ipv4: 0xC000_0209, port: MulticastDNS.port)

    private static func name(_ number: Int) -> String { "0b6f1c2e-8a37-4f0d-9a51-\(100_000_000_000 + number).local" }

    private struct World {
        var resolver = MulticastDNSResolver()
        var now = Instant(nanoseconds: 1_000_000_000)
        var queries: [(at: Instant, link: Int, questions: [DNSQuestion])] = []

        init(links: [Int] = [1, 2]) { resolver.setLinks(links) }

        mutating func resolve(_ name: String) -> MulticastDNSResolver.Outcome {
            defer { drain() }
            return resolver.resolve(name, at: now)
        }

        mutating func drain() {
            while let transmit = resolver.pollTransmit() {
                let message = VirtualLink.message(transmit.bytes)
                queries.append((now, transmit.link, message?.questions ?? []))
            }
        }

        mutating func run(for duration: Duration) {
            let end = now + duration
            for _ in 0..<1000 {
                guard let next = resolver.nextDeadline, next <= end else { break }
                now = max(now, next)
                resolver.handleDeadline(at: now)
                drain()
            }
            now = end
        }

        mutating func answer(
            _ name: String, _ addresses: [TransportAddress], timeToLive: UInt32 = 120,
            from port: UInt16 = MulticastDNS.port
        ) throws {
            let name = try #require(DNSName(name))
            var message = MulticastDNSMessage(isResponse: true)
            message.answers = addresses.map { DNSRecord(name, $0, timeToLive: timeToLive) }
            resolver.handle(message, from: MulticastDNSResolverTests.source.withPort(port), at: now)
        }
    }

    @Test func anAnswerIsTheOutcomeAndIsKept() throws {
        var world = World()
        #expect(world.resolve(Self.name) == .asking)
        #expect(world.resolve(Self.name.uppercased()) == .asking)
        #expect(world.queries.map(\.link) == [1, 2])
        #expect(world.queries[0].questions.map(\.type) == [DNSType.a, DNSType.aaaa])
        try world.answer(Self.name, [VirtualLink.address(4)])
        #expect(world.resolver.pollEvent()?.address == VirtualLink.address(4))
        #expect(world.resolver.pollEvent() == nil)
        #expect(world.resolver.nextDeadline == nil)
        #expect(world.resolve(Self.name) == .address(VirtualLink.address(4)))
        world.run(for: .seconds(121))
        #expect(world.resolve(Self.name) == .asking)
    }

    @Test func silenceEndsAfterThreeQueries() throws {
        var world = World(links: [1])
        _ = world.resolve(Self.name)
        world.run(for: .seconds(60))
        #expect(zip(world.queries.dropFirst(), world.queries).map { $0.at - $1.at } == [.seconds(1), .seconds(2)])
        let event = try #require(world.resolver.pollEvent() as MulticastDNSResolver.Event?)
        #expect(event.address == nil)
        #expect(event.name == DNSName(Self.name))
        #expect(world.resolver.nextDeadline == nil)
    }

    @Test func aNameWithoutAnAnswerIsNotAskedForAtOnce() {
        var world = World(links: [1])
        _ = world.resolve(Self.name)
        world.run(for: .seconds(6))
        #expect(world.resolve(Self.name) == .unknown)
        world.run(for: .seconds(5))
        #expect(world.resolve(Self.name) == .asking)
    }

    @Test func oneOfSeveralAddressesCounts() throws {
        var world = World()
        _ = world.resolve(Self.name)
        let ipv6 = TransportAddress(ipv6High: 0x2001_0DB8_0000_0000, low: 9, port: 0)
        let linkLocal = TransportAddress(ipv6High: 0xFE80 << 48, low: 9, port: 0)
        try world.answer(Self.name, [VirtualLink.address(4), linkLocal, ipv6])
        #expect(world.resolver.pollEvent()?.address == ipv6)
    }

    @Test func unusableAnswersAreNone() throws {
        var world = World()
        _ = world.resolve(Self.name)
        try world.answer(Self.name, [TransportAddress(ipv4: 0xE000_0001, port: 0), TransportAddress(ipv4: 0, port: 0)])
        try world.answer(Self.name, [VirtualLink.address(4)], from: 1024)
        try world.answer(Self.name, [VirtualLink.address(4)], timeToLive: 0)
        try world.answer(Self.name(1), [VirtualLink.address(4)])
        #expect(world.resolver.pollEvent() == nil)
        #expect(world.resolve(Self.name(1)) == .asking, "nothing is kept that nobody has asked for")
    }

    @Test(arguments: [
        "gatehouse.local", "router.local", "0b6f1c2e-8a37-4f0d-9a51-3c2d1e0f9a8b.example",
        "0b6f1c2e-8a37-4f0d-9a51-3c2d1e0f9a8g.local", "0b6f1c2e08a37-4f0d-9a51-3c2d1e0f9a8b.local",
        "x.0b6f1c2e-8a37-4f0d-9a51-3c2d1e0f9a8b.local", "192.0.2.1", "",
    ])
    func onlyNamesAsBrowsersMakeThemAreAskedFor(name: String) {
        var world = World()
        #expect(world.resolve(name) == .refused)
        #expect(world.queries.isEmpty)
    }

    @Test func aFloodOfNamesIsBounded() throws {
        var world = World(links: [1])
        let outcomes = (0..<1000).map { world.resolve(Self.name($0)) }
        #expect(outcomes.filter { $0 == .asking }.count == MulticastDNSResolver.maximumPending)
        world.run(for: .seconds(10))
        #expect(world.queries.count == 3 * MulticastDNSResolver.maximumPending)
        var none = World(links: [])
        #expect(none.resolve(Self.name) == .refused)
    }
}
