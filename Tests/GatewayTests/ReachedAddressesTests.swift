import HTTPTypes
import Testing
import Transport

@testable import Gateway

/// Which of a host's addresses a viewer is likely to reach. The host is in a home and in a VPN, and has a global IPv6 address.
@Suite struct ReachedAddressesTests {
    private static let home = "192.168.1.10"
    private static let tunnel = "10.8.0.1"
    private static let global = "2001:db8::10"
    /// The address of a bridge to containers, which viewers are not offered.
    private static let bridge = "172.17.0.1"

    private static func address(_ host: String) -> TransportAddress? { TransportAddress(host, port: 0) }

    /// The own address towards another one.
    private static func route(_ other: TransportAddress) -> TransportAddress? {
        if other.isLoopback { return other }
        if other.family == .ipv6 { return address(global) }
        if other.host.hasPrefix("172.17.") { return address(bridge) }
        return address(other.host.hasPrefix("10.8.") ? tunnel : home)
    }

    private func reached(
        local: String, viewer: String?, isForwarded: Bool, authority: String = "door.example",
        interfaces: [String] = [Self.home, Self.tunnel, Self.global]
    ) -> [String] {
        GatewayAPI.reachedAddresses(
            local: local, authority: authority, isForwarded: isForwarded, viewer: viewer.flatMap(Self.address),
            interfaces: { interfaces.compactMap(Self.address) }, route: Self.route)
    }

    @Test(arguments: [
        (Self.home, "192.168.1.20", [Self.home]), (Self.tunnel, "10.8.0.5", [Self.tunnel]),
        (Self.global, "2001:db8:1::7", [Self.global]),
        // A router forwards a port: nobody outside reaches the address at home.
        (Self.home, "198.51.100.7", []),
        // A viewer on this machine.
        ("127.0.0.1", "127.0.0.1", ["127.0.0.1"]),
        // The bridge's address is not offered otherwise, but it works here.
        (Self.bridge, "172.17.0.2", [Self.bridge]),
    ])
    func aConnectionOfTheViewersOwnShowsTheAddressThatItReaches(local: String, viewer: String, expected: [String]) {
        #expect(reached(local: local, viewer: viewer, isForwarded: false) == expected)
    }

    @Test(arguments: [
        ("192.168.1.20", [Self.home]), ("10.8.0.5", [Self.tunnel]), ("2001:db8:1::7", [Self.global]),
        // The home's address is behind a router for this viewer.
        ("198.51.100.7", []),
        // The viewer is on this machine.
        ("127.0.0.1", []),
    ])
    func behindAProxyTheRouteToTheViewerShowsTheAddress(viewer: String, expected: [String]) {
        for local in ["127.0.0.1", "::1", Self.bridge, Self.home] {
            #expect(reached(local: local, viewer: viewer, isForwarded: true) == expected, "\(local)")
        }
    }

    @Test func anAddressThatViewersAreNotOfferedIsNotTakenFromTheRoute() {
        #expect(reached(local: "127.0.0.1", viewer: "172.17.0.2", isForwarded: true).isEmpty)
        // The proxy has just reached it, and by the same route the viewer does.
        #expect(reached(local: Self.bridge, viewer: "172.17.0.2", isForwarded: true) == [Self.bridge])
    }

    @Test func theLocalEndIsKeptWhereNothingElseIsKnown() {
        #expect(reached(local: Self.home, viewer: nil, isForwarded: true) == [Self.home])
        #expect(reached(local: Self.home, viewer: "198.51.100.7", isForwarded: false, interfaces: []) == [Self.home])
        #expect(reached(local: Self.bridge, viewer: "198.51.100.7", isForwarded: true, interfaces: []) == [Self.bridge])
        #expect(reached(local: "127.0.0.1", viewer: nil, isForwarded: true).isEmpty)
    }

    @Test func theAddressThatTheViewerHasWrittenComesLast() {
        let authority = "203.0.113.9:8443"
        #expect(
            reached(local: Self.home, viewer: "192.168.1.20", isForwarded: false, authority: authority)
                == [Self.home, "203.0.113.9"])
        #expect(
            reached(local: Self.home, viewer: "198.51.100.7", isForwarded: false, authority: authority)
                == ["203.0.113.9"])
        #expect(
            reached(local: "127.0.0.1", viewer: "192.168.1.20", isForwarded: true, authority: "\(Self.home):8443")
                == [Self.home])
    }

    private static let headers: [([String], String?)] = [
        (["192.168.1.20"], "192.168.1.20"), (["203.0.113.9, 192.168.1.20"], "192.168.1.20"),
        (["203.0.113.9,192.168.1.20 "], "192.168.1.20"), (["203.0.113.9", "192.168.1.20"], "192.168.1.20"),
        (["192.168.1.20:4711"], "192.168.1.20"), (["2001:db8::7"], "2001:db8::7"),
        (["[2001:db8::7]"], "2001:db8::7"), (["[2001:db8::7]:4711"], "2001:db8::7"),
        (["192.168.1.20, unknown"], nil), ([""], nil), ([","], nil), ([], nil),
    ]

    @Test(arguments: Self.headers)
    func theViewerIsTheLastAddressThatAProxyHasAdded(lines: [String], expected: String?) throws {
        let name = try #require(HTTPField.Name("X-Forwarded-For"))
        var headers = HTTPFields()
        headers[values: name] = lines
        #expect(GatewayAPI.forwardedViewer(headers)?.host == expected)
    }
}
