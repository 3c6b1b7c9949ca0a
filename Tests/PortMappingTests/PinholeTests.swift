import Testing
import Transport

@testable import PortMapping

/// The router of IPv6 translates nothing, but its firewall lets nothing in (RFC 6887).
@Suite struct PinholeTests {
    private static let router = TransportAddress(ipv6High: 0xFE80 << 48, low: 1, port: 5351, scope: 4)
    private static let client = TransportAddress(ipv6High: 0x2001_0DB8_0001_0002, low: 0x10, port: 0)

    /// A mapper and a firewall in virtual time. Its answers are written byte by byte, by the RFC.
    private struct World {
        var mapper = PortMapper(internalPort: 8189, random: .seeded(3))
        var now = Instant(nanoseconds: 1_000_000_000)
        var isSilent = false
        var code: UInt8 = 0
        var lifetime: [UInt8] = [0, 0, 7, 8]
        /// The address that the answer names; nil for that of the host.
        var external: [UInt8]?
        /// The requests by PCP, and how many searches by UPnP there were.
        var requests: [(at: Instant, message: RouterMessage)] = []
        var searches = 0

        init(_ change: (inout World) -> Void = { _ in }) {
            change(&self)
            mapper.setRouter(PinholeTests.router, client: PinholeTests.client, at: now)
            exchange()
        }

        func answer(to request: [UInt8]) -> [UInt8] {
            // Version, response and operation, reserved, code; the lifetime; the epoch; 12 bytes that are reserved.
            var bytes: [UInt8] = [2, 0x81, 0, code]
            bytes += lifetime
            bytes += [0, 0, 0, 77]
            bytes += [UInt8](repeating: 0, count: 12)
            // The nonce, the protocol and the port are those of the request.
            bytes += request[24..<42]
            bytes += request[40..<42]
            bytes += external ?? Array(request[8..<24])
            return bytes
        }

        mutating func deliver(_ answer: [UInt8], from source: TransportAddress = PinholeTests.router) {
            answer.withUnsafeBytes { mapper.handle($0, from: source, at: now) }
        }

        mutating func exchange() {
            for _ in 0..<100 {
                guard let message = mapper.pollTransmit() else { return }
                if message.destination == PinholeTests.router.withPort(1900) {
                    searches += 1
                    continue
                }
                requests.append((now, message))
                if !isSilent { deliver(answer(to: message.bytes)) }
            }
            Issue.record("requests without end")
        }

        mutating func run(for duration: Duration) {
            let end = now + duration
            for _ in 0..<10_000 {
                guard let next = mapper.nextDeadline, next <= end else { break }
                now = max(now, next)
                mapper.handleDeadline(at: now)
                exchange()
            }
            now = end
        }
    }

    @Test func `a pinhole is made for the host's own address, and renewed at half of its life`() throws {
        var world = World()
        #expect(world.mapper.mapping.external == Self.client.withPort(8189))
        let first = try #require(world.requests.first).message
        #expect(first.destination == Self.router)
        #expect(first.source == Self.client, "the router refuses a request from another address than the one in it")
        let own: [UInt8] = [0x20, 0x01, 0x0D, 0xB8, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0x10]
        #expect(Array(first.bytes[..<24]) == [2, 1, 0, 0, 0, 0, 7, 8] + own)
        #expect(Array(first.bytes[36..<44]) == [17, 0, 0, 0, 0x1F, 0xFD, 0x1F, 0xFD])
        #expect(Array(first.bytes[44...]) == [UInt8](repeating: 0, count: 16), "any address")
        world.run(for: .seconds(3600))
        let gaps = zip(world.requests.dropFirst(), world.requests).map { $0.at - $1.at }
        #expect(gaps == [.seconds(900), .seconds(900), .seconds(900), .seconds(900)])
        #expect(world.requests.allSatisfy { $0.message.bytes[24..<36] == first.bytes[24..<36] }, "the same nonce")
        #expect(world.requests.dropFirst().allSatisfy { Array($0.message.bytes[44...]) == own })
    }

    @Test func `the pinhole is closed with the gateway`() {
        var world = World()
        world.mapper.release()
        world.isSilent = true
        world.exchange()
        let ends = world.requests.dropFirst().map(\.message)
        #expect(ends.count == 2)
        for end in ends {
            #expect(Array(end.bytes[4..<8]) == [0, 0, 0, 0], "no lifetime")
            #expect(Array(end.bytes[42...]) == [UInt8](repeating: 0, count: 18), "any port and address")
            #expect(end.source == Self.client)
        }
        #expect(world.mapper.mapping.external == nil && world.mapper.nextDeadline == nil)
    }

    @Test func `another address of the host gets a pinhole of its own`() {
        var world = World()
        let other = TransportAddress(ipv6High: 0x2001_0DB8_0001_0002, low: 0x11, port: 0)
        world.mapper.setRouter(Self.router, client: other, at: world.now)
        world.exchange()
        #expect(world.mapper.mapping.external == other.withPort(8189))
        #expect(world.requests.last?.message.source == other)
    }

    /// NAT-PMP is about IPv4.
    @Test func `a silent router is asked by PCP and by UPnP, and less and less often`() {
        var world = World { $0.isSilent = true }
        world.run(for: .seconds(15))
        #expect(world.requests.count == 2 && world.searches == 2)
        world.run(for: .seconds(86_385))
        #expect(world.requests.allSatisfy { $0.message.bytes.count == 60 })
        #expect(world.requests.count < 2 * 60, "\(world.requests.count)")
        #expect(world.searches <= world.requests.count)
        #expect(world.mapper.mapping.failure == .noAnswer && world.mapper.mapping.external == nil)
        world.isSilent = false
        world.run(for: .seconds(1900))
        #expect(world.mapper.mapping.external == Self.client.withPort(8189))
    }

    @Test(arguments: [1, 2, 4, 8, 12] as [UInt8]) func `a refusal is reported, and asked about later`(code: UInt8) {
        var world = World { $0.code = code }
        // The search by UPnP, which nobody answers.
        world.run(for: .seconds(6))
        #expect(world.searches == 2)
        #expect(world.mapper.mapping.failure == .refused(.pcp, code: UInt16(code)))
        world.run(for: .seconds(1793))
        #expect(world.requests.count <= (code == 1 || code == 4 ? 6 : 1), "\(world.requests.count)")
        #expect(world.requests.allSatisfy { $0.message.bytes.count == 60 })
        world.code = 0
        world.run(for: .seconds(1801))
        #expect(world.mapper.mapping.external == Self.client.withPort(8189) && world.mapper.mapping.failure == nil)
    }

    @Test func `a router that speaks only NAT-PMP is not asked by it`() {
        var world = World { $0.isSilent = true }
        world.deliver([0, 129, 0, 1, 0, 0, 0, 77])
        world.exchange()
        world.run(for: .seconds(6))
        #expect(world.requests.count == 1 && world.mapper.mapping.failure == .refused(.pcp, code: 1))
    }

    /// An IPv4 address, a link-local one, one of a private network, the loopback, and none.
    static let unusable: [[UInt8]] = [
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 203, 0, 113, 6],
        [0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        [0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ]

    @Test(arguments: unusable)
    func `an address at which nobody is reached is refused`(external: [UInt8]) {
        let world = World { $0.external = external }
        #expect(world.mapper.mapping.external == nil && world.mapper.mapping.failure == .unusableAddress)
    }

    @Test func `answers of others are ignored`() throws {
        var world = World { $0.isSilent = true }
        let request = try #require(world.requests.first).message.bytes
        let answer = world.answer(to: request)
        // The same address on another link, and another port.
        world.deliver(answer, from: TransportAddress(ipv6High: 0xFE80 << 48, low: 1, port: 5351, scope: 5))
        world.deliver(answer, from: Self.router.withPort(5350))
        world.deliver(answer, from: Self.client.withPort(5351))
        for index in [24, 35, 36, 40] {
            // Another nonce, protocol or port.
            var other = answer
            other[index] ^= 1
            world.deliver(other)
        }
        #expect(world.mapper.mapping.external == nil)
        world.deliver(answer)
        #expect(world.mapper.mapping.external == Self.client.withPort(8189))
    }

    @Test func `mutated answers never trap and never give an unusable address`() throws {
        var random = RandomSource.seeded(6887)
        var opened = 0
        for _ in 0..<10_000 {
            var world = World { $0.isSilent = true }
            var bytes = world.answer(to: try #require(world.requests.first).message.bytes)
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                if Int.random(in: 0..<4, using: &random) == 0 {
                    bytes.removeLast(Int.random(in: 0...min(8, bytes.count), using: &random))
                } else {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] ^=
                        1 << UInt8.random(in: 0..<8, using: &random)
                }
            }
            world.deliver(bytes)
            if let external = world.mapper.mapping.external {
                opened += 1
                #expect(external.isUsableDestination && external.isGlobal && external.family == .ipv6)
            }
            #expect(world.mapper.nextDeadline != nil && world.mapper.pollRequest() == nil)
        }
        // Some must get through, or the mutations reach nothing behind the header.
        #expect(opened > 500)
    }

    @Test func `the TCP port gets a pinhole after the media port`() {
        var mappers = PortMappers(mediaPort: 8189, tcpPort: 8443, random: .seeded(5))
        let (world, now) = (World(), Instant(nanoseconds: 1_000_000_000))
        mappers.setRouter(Self.router, client: Self.client, at: now)
        var protocols: [UInt8] = []
        for _ in 0..<10 {
            guard let message = mappers.pollTransmit() else { break }
            protocols.append(message.bytes[36])
            world.answer(to: message.bytes).withUnsafeBytes { mappers.handle($0, from: message.destination, at: now) }
        }
        #expect(protocols == [17, 6])
        #expect(mappers.mappings.tcp?.external == Self.client.withPort(8443))
    }
}
