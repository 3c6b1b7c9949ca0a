import DatagramPort
import Glibc
import Transport

/// Which kind of network a connection to an address leads to.
extension TransportAddress {
    /// The IPv4 address, even where it is inside of one of IPv6: compatible (RFC 4291, section 2.5.5), translated
    /// (`64:ff9b::/96`, RFC 6052) or 6to4 (`2002::/16`, RFC 3056). A mapped one is an IPv4 address already. Nil for any
    /// other address.
    private var innerIPv4: UInt32? {
        if family == .ipv4 { return UInt32(truncatingIfNeeded: low) }
        if high >> 48 == 0x2002 { return UInt32(truncatingIfNeeded: high >> 16) }
        let isTranslated = high == 0x0064_FF9B_0000_0000
        return (high == 0 || isTranslated) && low >> 32 == 0 ? UInt32(truncatingIfNeeded: low) : nil
    }

    /// Whether a connection there ends at this host: 127.0.0.0/8, `::1`, and the unspecified address, which Linux
    /// treats as this host.
    var leadsToThisHost: Bool {
        guard let ipv4 = innerIPv4 else { return false }
        return ipv4 >> 24 == 127 || ipv4 >> 24 == 0
    }

    /// 169.254.0.0/16 and `fe80::/10`.
    var leadsToLink: Bool {
        guard let ipv4 = innerIPv4 else { return isLinkLocal }
        return ipv4 >> 16 == 0xA9FE
    }

    /// Whether it is neither public nor link-local: private (RFC 1918, RFC 4193), shared by a provider's customers
    /// (RFC 6598), for one site (RFC 3879), or for protocols and measurements (RFC 6890).
    var leadsToPrivateNetwork: Bool {
        // fc00::/7 and fec0::/10.
        guard let ipv4 = innerIPv4 else { return high >> 57 == 0x7E || high >> 54 == 0x3FB }
        switch (ipv4 >> 24, ipv4 >> 16 & 0xFF) {
        case (10, _), (172, 16...31), (192, 168), (100, 64...127), (198, 18...19): return true
        case (192, 0): return ipv4 >> 8 & 0xFF == 0
        default: return false
        }
    }

    /// Multicast, broadcast, and what is reserved for the future.
    var leadsToManyHosts: Bool {
        guard let ipv4 = innerIPv4 else { return isMulticast }
        return ipv4 >> 24 >= 224
    }

    /// Whether it is an address of this machine. The system would then send from that address. Nothing is sent to find out.
    var isOfThisMachine: Bool {
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(socketFamily, type, 0)
        // Without descriptors nothing can be connected to either.
        guard descriptor >= 0 else { return true }
        defer { Glibc.close(descriptor) }
        guard withPort(9).withSocketAddress({ Glibc.connect(descriptor, $0, $1) }) == 0 else { return false }
        let own = TransportAddress.filled { getsockname(descriptor, $0, $1) }
        return own?.hasSameHost(as: self) ?? false
    }
}
