import DatagramPort
import Glibc
public import Transport

/// The router that leads out of this host's network over IPv6, and this host's address behind it.
public struct IPv6Router: Hashable, Sendable {
    /// The router's address, with port 0. It is usually link-local, and then has its interface.
    public var address: TransportAddress
    /// The global address, with port 0, that this host uses for what goes out.
    public var client: TransportAddress

    /// Finds both; nil if there is no router, or no global address.
    public static func current() -> IPv6Router? {
        guard let routes = DefaultRouter.readRoutes("/proc/net/ipv6_route"),
            let router = Self.address(inRoutes: routes, interface: { if_nametoindex($0) }),
            let client = ownAddress(towards: outside), client.family == .ipv6, client.isGlobal
        else { return nil }
        return IPv6Router(address: router, client: client.withPort(0))
    }

    /// An address that every default route leads to: a root server of the DNS. Nothing is sent there.
    private static let outside = TransportAddress(ipv6High: 0x2001_0503_BA3E_0000, low: 0x0002_0030, port: 53)

    /// The router in a table of routes as `/proc/net/ipv6_route` has it: that of the default route with the lowest metric; nil if
    /// there is none. All its numbers are hexadecimal, in network byte order.
    /// - Parameter interface: the number of the interface with a name; 0 if there is none.
    static func address(inRoutes routes: String, interface: (String) -> UInt32) -> TransportAddress? {
        let (up, gateway, reject): (UInt32, UInt32, UInt32) = (0x1, 0x2, 0x200)
        var best: (metric: UInt32, address: TransportAddress)?
        for line in routes.split(separator: "\n") {
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard fields.count >= 10, fields[0].count == 32, fields[0].allSatisfy({ $0 == "0" }), fields[1] == "00",
                fields[3] == "00", fields[4].count == 32, let high = UInt64(fields[4].prefix(16), radix: 16),
                let low = UInt64(fields[4].suffix(16), radix: 16), let metric = UInt32(fields[5], radix: 16),
                let flags = UInt32(fields[8], radix: 16), flags & (up | gateway | reject) == up | gateway
            else { continue }
            if let best, best.metric <= metric { continue }
            let found = TransportAddress(
                ipv6High: high, low: low, port: 0, scope: interface(String(fields[9])))
            guard found.family == .ipv6, found.withPort(1).isUsableDestination, !found.isLoopback,
                !found.isLinkLocal || found.scope != 0
            else { continue }
            best = (metric, found)
        }
        return best?.address
    }
}
