import Testing
import Transport

@Suite("A transport address")
struct TransportAddressTests {
    @Test(
        "reads literals and writes them as RFC 5952 does",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
            ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("2001:DB8::00a1", "2001:db8::a1"),
            // RFC 5952, section 4.2.2: a single zero group is not shortened; 4.2.3: of equal runs the first is.
            ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
            ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
            ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"), ("fe80::1", "fe80::1"),
            ("::ffff:192.0.2.1", "192.0.2.1"), ("::FFFF:c000:201", "192.0.2.1"),
            ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"), ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
        ])
    func readsAndWrites(text: String, canonical: String) throws {
        let address = try #require(TransportAddress(text, port: 5000))
        #expect(address.host == canonical)
        #expect(address.port == 5000)
        #expect(TransportAddress(address.host, port: 5000) == address)
        #expect(address.description == (canonical.contains(":") ? "[\(canonical)]:5000" : "\(canonical):5000"))
    }

    @Test(
        "refuses anything but a literal address",
        arguments: [
            "", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.04", "1.2.3.-1", "1.2.3.+1", "1.2.3.4 ", "1..2.3",
            "camera.local", "3f2a.local", ":", ":::", "1:", ":1", "1:::2", "1::2::3", "12345::", "g::", "1:2:3:4:5:6:7",
            "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1%eth0", "[::1]", "1.2.3.4::", "::1.2.3", "::1.2.3.4:5",
            "+1::", "::-0", "::+f", "0x1::",
        ])
    func refuses(text: String) {
        #expect(TransportAddress(text, port: 1) == nil)
    }

    @Test("never traps on broken text, and what it accepts it can write and read again")
    func survivesMutation() {
        let corpus = [
            "192.0.2.1", "2001:db8::a1", "::ffff:192.0.2.1", "1:2:3:4:5:6:7:8", "fe80::1", "64:ff9b::1.2.3.4",
        ]
        let alphabet = Array("0123456789abcdefF:.%+-gx ".utf8) + [0x00, 0xC3, 0xFF]
        var random = RandomSource.seeded(1)
        var accepted = 0
        for round in 0..<8000 {
            var bytes = Array(corpus[round % corpus.count].utf8)
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let index = Int.random(in: 0...bytes.count, using: &random)
                let letter = alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes.insert(letter, at: index)
                case 1 where index < bytes.count: bytes[index] = letter
                case 2 where index < bytes.count: bytes.remove(at: index)
                default: bytes += bytes
                }
            }
            guard let address = TransportAddress(String(decoding: bytes, as: UTF8.self), port: 9) else { continue }
            accepted += 1
            #expect(TransportAddress(address.host, port: 9) == address)
        }
        #expect(accepted > 500)
    }

    @Test("writes every IPv6 address so that it reads back the same")
    func roundTripsIPv6() {
        var random = RandomSource.seeded(2)
        for _ in 0..<2000 {
            // Zero groups are as likely as others, or the shortening would hardly be met.
            func half() -> UInt64 {
                (0..<4).reduce(0) { value, _ in
                    value << 16 | (random.next() & 1 == 0 ? 0 : random.next() & 0xFFFF)
                }
            }
            let address = TransportAddress(ipv6High: half(), low: half(), port: 443)
            #expect(TransportAddress(address.host, port: 443) == address)
        }
    }

    @Test("treats an IPv4-mapped address as the IPv4 one")
    func unmapsIPv4() {
        let mapped = TransportAddress(ipv6High: 0, low: 0xFFFF_C000_0201, port: 7)
        #expect(mapped == TransportAddress(ipv4: 0xC000_0201, port: 7))
        #expect(mapped.family == .ipv4)
        #expect(mapped.hashValue == TransportAddress(ipv4: 0xC000_0201, port: 7).hashValue)
    }

    @Test("keeps the interface of a link-local address only")
    func keepsScope() {
        let linkLocal = TransportAddress(ipv6High: 0xFE80_0000_0000_0000, low: 1, port: 1, scope: 3)
        #expect(linkLocal.scope == 3)
        #expect(linkLocal.withPort(2).scope == 3)
        #expect(TransportAddress(ipv6High: 0x2001_0DB8_0000_0000, low: 1, port: 1, scope: 3).scope == 0)
        // A multicast group of one link exists on each, one of a site does not.
        #expect(TransportAddress(ipv6High: 0xFF12 << 48, low: 1, port: 1, scope: 3).scope == 3)
        #expect(TransportAddress(ipv6High: 0xFF05 << 48, low: 1, port: 1, scope: 3).scope == 0)
    }

    @Test("compares hosts without ports")
    func comparesHosts() {
        let address = TransportAddress(ipv4: 0xC000_0201, port: 7)
        #expect(address.hasSameHost(as: address.withPort(8)))
        #expect(address != address.withPort(8))
        #expect(!address.hasSameHost(as: TransportAddress(ipv6High: 0, low: 0xC000_0201, port: 7)))
    }

    @Test(
        "knows which destinations never reach a socket",
        arguments: [
            ("192.0.2.1", true), ("10.0.0.1", true), ("127.0.0.1", true), ("169.254.1.1", true), ("::1", true),
            ("2001:db8::1", true), ("fd00::2", true), ("fe80::1", true), ("223.255.255.255", true),
            ("0.0.0.0", false), ("0.1.2.3", false), ("224.0.0.251", false), ("239.255.255.250", false),
            ("240.0.0.1", false), ("255.255.255.255", false), ("::", false), ("ff02::fb", false),
            ("::ffff:255.255.255.255", false), ("::ffff:224.0.0.1", false),
        ])
    func judgesDestinations(text: String, isUsable: Bool) throws {
        let address = try #require(TransportAddress(text, port: 9))
        #expect(address.isUsableDestination == isUsable)
        #expect(!address.withPort(0).isUsableDestination)
    }

    @Test("recognises loopback, link-local and multicast addresses")
    func classifies() throws {
        let loopback = try #require(TransportAddress("127.9.9.9", port: 1))
        #expect(loopback.isLoopback && !loopback.isLinkLocal && !loopback.isMulticast && !loopback.isUnspecified)
        let linkLocal = try #require(TransportAddress("febf::1", port: 1))
        #expect(linkLocal.isLinkLocal && !linkLocal.isLoopback)
        #expect(try #require(TransportAddress("fec0::1", port: 1)).isLinkLocal == false)
        #expect(try #require(TransportAddress("169.254.0.1", port: 1)).isLinkLocal)
        #expect(try #require(TransportAddress("ff00::", port: 1)).isMulticast)
        #expect(try #require(TransportAddress("0.0.0.1", port: 1)).isLoopback == false)
    }

    @Test("is another address by another way")
    func routes() throws {
        let direct = try #require(TransportAddress("192.0.2.1", port: 5000))
        let relayed = direct.by(.relayed)
        #expect(direct.route == .direct && relayed.route == .relayed)
        #expect(relayed != direct && relayed.by(.direct) == direct)
        #expect(relayed.hasSameHost(as: direct))
        #expect(relayed.withPort(1).route == .relayed && relayed.withPort(5000) == relayed)
        let link = TransportAddress(ipv6High: 0xFE80 << 48, low: 1, port: 7, scope: 3).by(.relayed)
        #expect(link.scope == 3 && link.withPort(8).scope == 3 && link.family == .ipv6)
    }

    @Test(
        "means the same host everywhere, or not",
        arguments: [
            ("192.0.2.1", true), ("8.8.8.8", true), ("172.15.0.1", true), ("172.32.0.1", true),
            ("100.63.255.255", true),
            ("100.128.0.0", true), ("11.0.0.1", true), ("192.169.0.1", true), ("2001:db8::1", true),
            ("10.255.0.1", false), ("172.16.0.1", false), ("172.31.255.255", false), ("192.168.4.4", false),
            ("100.64.0.1", false), ("100.127.255.255", false), ("127.0.0.1", false), ("169.254.1.1", false),
            ("fd00::1", false), ("fc00::1", false), ("fe80::1", false), ("::1", false), ("0.0.0.0", false),
            ("224.0.0.1", false),
        ])
    func isGlobal(text: String, expected: Bool) throws {
        #expect(try #require(TransportAddress(text, port: 1)).isGlobal == expected)
    }
}
