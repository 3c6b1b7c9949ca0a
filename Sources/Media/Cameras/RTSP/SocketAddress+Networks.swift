import Glibc

/// Which kind of network an address belongs to.
extension SocketAddress {
    /// The bytes of an IPv4 address, even where it is inside of one of IPv6: mapped, compatible (RFC 4291, section 2.5.5),
    /// translated (`64:ff9b::/96`, RFC 6052) or 6to4 (`2002::/16`, RFC 3056). Nil for any other address.
    private var ipv4: [UInt8]? {
        let bytes = addressBytes
        if bytes.count == 4 { return bytes }
        if bytes.starts(with: [0x20, 0x02]) { return Array(bytes[2..<6]) }
        return Self.ipv4Prefixes.contains { bytes.starts(with: $0) } ? Array(bytes[12...]) : nil
    }

    /// What stands before an IPv4 address in one of IPv6.
    private static let ipv4Prefixes: [[UInt8]] = [
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF],
        [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0],
    ]

    /// Whether a connection there ends at this host: 127.0.0.0/8, `::1`, and the unspecified address, which Linux
    /// treats as this host.
    var isLoopback: Bool {
        guard let ipv4 else { return false }
        return ipv4[0] == 127 || ipv4[0] == 0
    }

    /// 169.254.0.0/16 and `fe80::/10`.
    var isLinkLocal: Bool {
        if let ipv4 { return ipv4[0] == 169 && ipv4[1] == 254 }
        let bytes = addressBytes
        return bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
    }

    /// Whether it is neither public nor link-local: private (RFC 1918, RFC 4193), shared by a provider's customers
    /// (RFC 6598), for one site (RFC 3879), or for protocols and measurements (RFC 6890).
    var isPrivate: Bool {
        if let ipv4 {
            switch (ipv4[0], ipv4[1]) {
            case (10, _), (172, 16...31), (192, 168), (100, 64...127), (198, 18...19): return true
            case (192, 0): return ipv4[2] == 0
            default: return false
            }
        }
        let bytes = addressBytes
        return bytes[0] & 0xFE == 0xFC || (bytes[0] == 0xFE && bytes[1] & 0xC0 == 0xC0)
    }

    /// Multicast, broadcast, and what is reserved for the future.
    var isForManyHosts: Bool {
        if let ipv4 { return ipv4[0] >= 224 }
        return addressBytes[0] == 0xFF
    }

    /// Whether it is an address of this machine. The system would then send from that address. Nothing is sent to find out.
    var isOfThisMachine: Bool {
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(family, type, 0)
        // Without descriptors nothing can be connected to either.
        guard descriptor >= 0 else { return true }
        defer { Glibc.close(descriptor) }
        let target = withPort(9)
        guard target.withPointer({ Glibc.connect(descriptor, $0, $1) }) == 0 else { return false }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return status == 0 && hasSameHost(as: storage)
    }
}
