import Glibc
import RTSP

/// Decides where a camera may redirect the gateway.
///
/// A redirection is followed to other hosts and ports, as load balancers and recorders need it. It is not followed to
/// the gateway's own host or to link-local addresses. These have services that others must not reach: those of the host
/// itself, and the metadata service of cloud hosts. A camera that was configured at such an address may redirect to
/// others of the same kind.
enum Redirection {
    /// The target's addresses that the gateway may connect to; all of them unless the target is a redirection.
    ///
    /// - Parameters:
    ///   - list: the resolved addresses of the target's host.
    ///   - target: the redirection's target.
    ///   - origin: the address of the config.
    ///   - home: where the camera was reached at `origin`.
    static func followed(
        _ list: [SocketAddress], to target: RTSPURL, from origin: RTSPURL, at home: SocketAddress?
    ) -> [SocketAddress] {
        guard target.host != origin.host else { return list }
        return list.filter { address in
            (!address.isLoopback || home?.isLoopback == true) && (!address.isLinkLocal || home?.isLinkLocal == true)
        }
    }

    static func refusedReason(_ target: RTSPURL) -> String {
        "the camera redirects to \(target), an address of the gateway's own host or link, which is not followed. If the "
            + "camera is there, write that address into the config"
    }

    static func withheldReason(_ target: String) -> String {
        "the camera redirects to \(target), which asks for a password. The one of the config is for the configured "
            + "address alone and is not sent there. If the camera is there, write that address into the config"
    }
}

extension SocketAddress {
    /// The bytes of an IPv4 address, even where it is mapped into IPv6; nil for any other address.
    private var ipv4: [UInt8]? {
        let bytes = addressBytes
        if bytes.count == 4 { return bytes }
        guard bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10...11].allSatisfy({ $0 == 0xFF }) else { return nil }
        return Array(bytes[12...])
    }

    /// Whether a connection there ends at this host: 127.0.0.0/8, `::1`, and the unspecified address, which Linux
    /// treats as this host.
    var isLoopback: Bool {
        if let ipv4 { return ipv4[0] == 127 || ipv4[0] == 0 }
        let bytes = addressBytes
        return bytes.dropLast().allSatisfy { $0 == 0 } && (bytes.last ?? 0) <= 1
    }

    /// 169.254.0.0/16 and `fe80::/10`.
    var isLinkLocal: Bool {
        if let ipv4 { return ipv4[0] == 169 && ipv4[1] == 254 }
        let bytes = addressBytes
        return bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
    }
}
