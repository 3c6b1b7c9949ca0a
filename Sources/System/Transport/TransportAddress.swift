/// An IPv4 or IPv6 address and a UDP or TCP port, stored inline: no box, no host name, no allocation.
///
/// An IPv4 address that arrived as an IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) equals the plain IPv4 one.
public struct TransportAddress: Hashable, Sendable, BitwiseCopyable {
    /// The version of the Internet Protocol.
    public enum Family: UInt8, Sendable, BitwiseCopyable {
        /// IPv4.
        case ipv4 = 4
        /// IPv6.
        case ipv6 = 6
    }

    /// The way to an address. It belongs to the address: a peer that answers by another way need not be the same one.
    public enum Route: UInt8, Sendable, BitwiseCopyable {
        /// From the own socket.
        case direct
        /// Through a TURN server (RFC 8656).
        case relayed
        /// Over a TCP connection that came from the address (RFC 6544).
        case tcp
    }

    /// The high 64 bits of the IPv6 address in host byte order; zero for IPv4.
    public let high: UInt64
    /// The low 64 bits of the IPv6 address in host byte order; for IPv4 the address in the low 32 bits.
    public let low: UInt64
    /// The port in host byte order.
    public let port: UInt16
    /// The version of the Internet Protocol.
    public let family: Family
    /// The way to the address.
    public let route: Route
    /// The interface of a link-local IPv6 address or multicast group as the kernel numbers it; 0 for every other address.
    public let scope: UInt32

    /// Makes an IPv4 address; `ipv4` is in host byte order (`0x7F00_0001` is 127.0.0.1).
    public init(ipv4: UInt32, port: UInt16) {
        self.init(high: 0, low: UInt64(ipv4), port: port, family: .ipv4, scope: 0)
    }

    /// Makes an IPv6 address from its two halves in host byte order. An IPv4-mapped address becomes the IPv4 one.
    public init(ipv6High high: UInt64, low: UInt64, port: UInt16, scope: UInt32 = 0) {
        if high == 0, low >> 32 == 0xFFFF {
            self.init(ipv4: UInt32(truncatingIfNeeded: low), port: port)
            return
        }
        // fe80::/10, and multicast groups of one link (RFC 4291, section 2.7).
        let isOfOneLink = high >> 54 == 0x3FA || high >> 48 & 0xFF0F == 0xFF02
        self.init(high: high, low: low, port: port, family: .ipv6, scope: isOfOneLink ? scope : 0)
    }

    private init(high: UInt64, low: UInt64, port: UInt16, family: Family, scope: UInt32, route: Route = .direct) {
        self.high = high
        self.low = low
        self.port = port
        self.family = family
        self.route = route
        self.scope = scope
    }

    /// The same address with another port.
    public func withPort(_ port: UInt16) -> TransportAddress {
        TransportAddress(high: high, low: low, port: port, family: family, scope: scope, route: route)
    }

    /// The same address by another way.
    public func by(_ route: Route) -> TransportAddress {
        TransportAddress(high: high, low: low, port: port, family: family, scope: scope, route: route)
    }

    /// The same host, whatever the port.
    public func hasSameHost(as other: TransportAddress) -> Bool {
        high == other.high && low == other.low && family == other.family
    }
}

extension TransportAddress {
    /// 127.0.0.0/8 or `::1`.
    public var isLoopback: Bool {
        family == .ipv4 ? low >> 24 == 127 : high == 0 && low == 1
    }

    /// 0.0.0.0 or `::`.
    public var isUnspecified: Bool { high == 0 && low == 0 }

    /// 224.0.0.0/4 or `ff00::/8`.
    public var isMulticast: Bool {
        family == .ipv4 ? low >> 28 == 0xE : high >> 56 == 0xFF
    }

    /// 169.254.0.0/16 or `fe80::/10`.
    public var isLinkLocal: Bool {
        family == .ipv4 ? low >> 16 == 0xA9FE : high >> 54 == 0x3FA
    }

    /// Whether the address means the same host everywhere: neither private (RFC 1918, RFC 4193), nor shared by the customers
    /// of a provider (RFC 6598), link-local or loopback.
    public var isGlobal: Bool {
        if isLoopback || isLinkLocal || isUnspecified || isMulticast { return false }
        guard family == .ipv4 else { return high >> 57 != 0x7E }
        return low >> 24 != 10 && low >> 20 != 0xAC1 && low >> 16 != 0xC0A8 && low >> 22 != 0x191
    }

    /// Whether a datagram may be sent there at all.
    ///
    /// A hostile candidate that names a broadcast, multicast or unspecified address, or port 0, would at best be
    /// refused by the kernel and at worst be amplified: so such a destination never reaches a socket.
    public var isUsableDestination: Bool {
        if port == 0 || isUnspecified || isMulticast { return false }
        // 0.0.0.0/8 is "this network", 240.0.0.0/4 is reserved and holds the limited broadcast (RFC 6890).
        if family == .ipv4 { return low >> 24 != 0 && low >> 28 != 0xF }
        return true
    }
}

extension TransportAddress: CustomStringConvertible {
    /// The address alone, as RFC 5952 writes it, without brackets and port.
    public var host: String {
        guard family == .ipv6 else {
            return "\(low >> 24 & 0xFF).\(low >> 16 & 0xFF).\(low >> 8 & 0xFF).\(low & 0xFF)"
        }
        let groups = (0..<8).map { index -> UInt64 in
            let half = index < 4 ? high : low
            return half >> UInt64(48 - (index % 4) * 16) & 0xFFFF
        }
        // RFC 5952, section 4.2: the longest run of two or more zero groups is shortened, the first of equals.
        var best = 0..<0
        var start = 0
        while start < 8 {
            var end = start
            while end < 8, groups[end] == 0 { end += 1 }
            if end - start >= 2, end - start > best.count { best = start..<end }
            start = max(end, start + 1)
        }
        func text(_ range: Range<Int>) -> String {
            groups[range].map { String($0, radix: 16) }.joined(separator: ":")
        }
        return best.isEmpty ? text(0..<8) : "\(text(0..<best.lowerBound))::\(text(best.upperBound..<8))"
    }

    public var description: String {
        family == .ipv4 ? "\(host):\(port)" : "[\(host)]:\(port)"
    }
}
