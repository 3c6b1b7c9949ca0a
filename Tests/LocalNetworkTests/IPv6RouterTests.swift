import Testing
import Transport

@testable import LocalNetwork

@Suite struct IPv6RouterTests {
    private static let none = "00000000000000000000000000000000"
    private static let first = "fe800000000000000000000000000001"
    private static let second = "fe800000000000000000000000000002"
    private static let global = "20010db8000000000000000000000001"
    private static let network = "20010db8000000000000000000000000"

    /// A line of `/proc/net/ipv6_route`.
    private static func line(
        _ destination: String = IPv6RouterTests.none, length: String = "00", by router: String,
        metric: String = "00000400", flags: String = "00450003", on interface: String = "eth0"
    ) -> String {
        "\(destination) \(length) \(none) 00 \(router) \(metric) 00000001 00000000 \(flags) \(interface)\n"
    }

    private func address(_ routes: String) -> TransportAddress? {
        IPv6Router.address(inRoutes: routes) { $0 == "eth0" ? 2 : $0 == "wlan0" ? 3 : 0 }
    }

    @Test func `the default route with the lowest metric leads to the router`() {
        let routes = [
            Self.line(Self.network, length: "40", by: Self.none, flags: "00000001"),
            Self.line(by: Self.first, metric: "00000258", on: "wlan0"),
            Self.line(by: Self.second, metric: "00000064"),
            Self.line(by: Self.none, metric: "ffffffff", flags: "00200200", on: "lo"),
        ]
        let expected = TransportAddress(ipv6High: 0xFE80 << 48, low: 2, port: 0, scope: 2)
        #expect(address(routes.joined()) == expected)
        let global = TransportAddress(ipv6High: 0x2001_0DB8_0000_0000, low: 1, port: 0)
        #expect(address(Self.line(by: Self.global)) == global)
    }

    /// No router, one that is down, one that refuses, and those of other networks; a link-local one on an interface that has
    /// gone, multicast, IPv4, and text that is not an address.
    static let others: [String] = [
        "", "\n\n", "x y z\n", line(by: none), line(by: first, flags: "00000002"), line(by: first, flags: "00000203"),
        line(network, length: "40", by: first), line(length: "01", by: first), line(by: first, on: "eth9"),
        line(by: "ff020000000000000000000000000001"), line(by: "00000000000000000000ffffc0a80101"), line(by: "fe80"),
        line(by: "0000000000000000000000000000000x"),
    ]

    @Test(arguments: others) func `other routes do not`(routes: String) {
        #expect(address(routes) == nil)
    }
}
