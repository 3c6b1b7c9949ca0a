import Glibc
package import Transport

/// Addresses in the form of the socket calls.
extension TransportAddress {
    /// The family as the socket calls number it.
    package var socketFamily: Int32 { family == .ipv4 ? AF_INET : AF_INET6 }

    /// The address in the form of the socket calls.
    package func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var storage = sockaddr_storage()
        let size = withUnsafeMutableBytes(of: &storage) { bytes in
            switch family {
            case .ipv4:
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = port.bigEndian
                address.sin_addr.s_addr = UInt32(truncatingIfNeeded: low).bigEndian
                bytes.storeBytes(of: address, as: sockaddr_in.self)
                return MemoryLayout<sockaddr_in>.size
            case .ipv6:
                var address = sockaddr_in6()
                address.sin6_family = sa_family_t(AF_INET6)
                address.sin6_port = port.bigEndian
                address.sin6_scope_id = scope
                withUnsafeMutableBytes(of: &address.sin6_addr) {
                    $0.storeBytes(of: high.bigEndian, as: UInt64.self)
                    $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
                }
                bytes.storeBytes(of: address, as: sockaddr_in6.self)
                return MemoryLayout<sockaddr_in6>.size
            }
        }
        return withUnsafePointer(to: storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(size)) }
        }
    }

    /// The address and the port; nil for a family other than IPv4 and IPv6.
    package init?(socketAddress pointer: UnsafePointer<sockaddr>) {
        guard let host = TransportAddress(host: pointer) else { return nil }
        // sin_port and sin6_port are in the same place.
        let port = UnsafeRawPointer(pointer).loadUnaligned(fromByteOffset: 2, as: UInt16.self)
        self = host.withPort(UInt16(bigEndian: port))
    }

    /// The address that a system call fills in; nil if the call fails, which a result other than 0 says, or for another
    /// family.
    package static func filled(
        by call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> TransportAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                call(address, &length) == 0 ? TransportAddress(socketAddress: address) : nil
            }
        }
    }
}
