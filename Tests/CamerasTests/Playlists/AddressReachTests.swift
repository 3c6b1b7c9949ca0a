import HTTPMedia
import Testing
import Transport

@testable import Cameras

/// Which addresses a place may lead to.
struct AddressReachTests {
    private static func address(_ host: String) throws -> TransportAddress {
        try #require(CameraSocket.lookUp(host: host, port: 80).get().first)
    }

    @Test(
        arguments: [
            ("203.0.113.5", "198.51.100.1", true), ("203.0.113.5", "192.168.1.1", false),
            ("203.0.113.5", "10.1.2.3", false), ("203.0.113.5", "172.31.0.1", false),
            ("203.0.113.5", "172.32.0.1", true),
            ("203.0.113.5", "100.64.0.1", false), ("203.0.113.5", "127.0.0.1", false),
            ("203.0.113.5", "127.9.9.9", false), ("203.0.113.5", "0.0.0.0", false),
            ("203.0.113.5", "169.254.169.254", false), ("203.0.113.5", "224.0.0.1", false),
            ("203.0.113.5", "255.255.255.255", false), ("192.168.1.40", "10.1.2.3", true),
            ("192.168.1.40", "203.0.113.5", true), ("192.168.1.40", "127.0.0.1", false),
            ("192.168.1.40", "169.254.169.254", false), ("192.168.1.40", "239.1.2.3", false),
            ("169.254.1.1", "169.254.1.2", true), ("169.254.1.1", "192.168.1.1", true),
            ("169.254.1.1", "127.0.0.1", false), ("127.0.0.1", "127.0.0.2", true), ("127.0.0.1", "192.168.1.1", true),
            ("127.0.0.1", "169.254.169.254", false), ("127.0.0.1", "203.0.113.5", true),
        ] as [(String, String, Bool)])
    func `A place leads to public addresses and to its own kind of network`(
        place: String, target: String, isAllowed: Bool
    ) throws {
        #expect(AddressReach(of: try Self.address(place)).allows(try Self.address(target)) == isAllowed)
    }

    @Test(arguments: [
        "::1", "::", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1",
        "2002:7f00:1::", "2002:a00:1::1", "fe80::1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "fd00::1",
        "fc00::1", "fec0::1", "ff02::1", "::ffff:224.0.0.1",
    ])
    func `A public place leads to no address of IPv6 that means another network`(target: String) throws {
        guard CameraSimulator.hasIPv6 else { return }
        #expect(!AddressReach(of: try Self.address("203.0.113.5")).allows(try Self.address(target)))
    }

    @Test(arguments: ["2001:db8::1", "64:ff9b::cb00:7105", "2002:cb00:7105::1", "::ffff:203.0.113.5"])
    func `Public addresses of IPv6 are public`(target: String) throws {
        guard CameraSimulator.hasIPv6 else { return }
        #expect(AddressReach().allows(try Self.address(target)))
    }

    @Test func `This machine's own addresses need a place of this machine`() throws {
        #expect(try Self.address("127.0.0.1").isOfThisMachine)
        #expect(try !Self.address("203.0.113.5").isOfThisMachine)
        let reach = AddressReach(of: try Self.address("127.0.0.1"))
        #expect(reach.contains(.thisMachine))
        #expect(!AddressReach(of: try Self.address("203.0.113.5")).contains(.thisMachine))
    }

    @Test func `A way never widens`() throws {
        let places = ["203.0.113.5", "192.168.1.40", "169.254.1.1", "127.0.0.1"]
        var random = RandomSource.seeded(12)
        for _ in 0..<300 {
            var place = RequestPlace(.init(host: "a", path: "/"))
            var before: AddressReach?
            for _ in 0..<4 {
                let next = try Self.address(places[Int.random(in: 0..<places.count, using: &random)])
                place = place.reached(at: next)
                let reach = try #require(place.reach)
                #expect(before.map { reach.isSubset(of: $0) } ?? true)
                #expect(reach.isSubset(of: AddressReach(of: next)))
                before = reach
            }
        }
    }
}
