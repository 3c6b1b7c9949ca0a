import CLinuxUDP
import Glibc
public import Transport

/// An address of this host that a peer might reach.
public struct HostAddress: Hashable, Sendable {
    /// The name of the network interface.
    public var interface: String
    /// The address; its port is 0.
    public var address: TransportAddress

    /// Describes an address of `interface`.
    public init(interface: String, address: TransportAddress) {
        self.interface = interface
        self.address = address
    }
}

/// Which addresses ``hostAddresses(_:)`` includes.
public struct HostAddressFilter: Hashable, Sendable {
    /// 127.0.0.0/8 and `::1`, which only this host can reach.
    public var includesLoopback = false
    /// 169.254.0.0/16 and `fe80::/10`. Browsers ignore them, and the IPv6 ones mean nothing without an interface.
    public var includesLinkLocal = false
    /// Bridges and virtual links of containers and virtual machines, by their names. Their addresses look like local
    /// ones, but other hosts cannot reach them.
    public var includesContainerBridges = false

    /// The addresses that another host may reach.
    public init() {}
}

/// The addresses of this host's interfaces that are up, IPv4 first, in the kernel's order, without duplicates.
///
/// The list is empty when the kernel gives none. It changes with the network, so do not keep it for long.
public func hostAddresses(_ filter: HostAddressFilter = HostAddressFilter()) -> [HostAddress] {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { return [] }
    defer { freeifaddrs(first) }
    var found: [HostAddress] = []
    var next = first
    while let entry = next?.pointee {
        next = entry.ifa_next
        let required = UInt32(IFF_UP | IFF_RUNNING)
        guard entry.ifa_flags & required == required, let pointer = entry.ifa_addr,
            let address = TransportAddress(host: pointer)
        else { continue }
        let host = HostAddress(interface: String(cString: entry.ifa_name), address: address)
        if filter.accepts(host), !found.contains(host) { found.append(host) }
    }
    return found.filter { $0.address.family == .ipv4 } + found.filter { $0.address.family == .ipv6 }
}

extension HostAddressFilter {
    private static let containerBridges = ["docker", "br-", "veth", "virbr", "vnet", "cni", "flannel", "cali", "lxc"]

    func accepts(_ host: HostAddress) -> Bool {
        if host.address.isUnspecified || host.address.isMulticast { return false }
        if !includesLoopback, host.address.isLoopback { return false }
        if !includesLinkLocal, host.address.isLinkLocal { return false }
        if !includesContainerBridges, Self.containerBridges.contains(where: { host.interface.hasPrefix($0) }) {
            return false
        }
        return true
    }
}

extension TransportAddress {
    /// The address without its port; nil for a family other than IPv4 and IPv6.
    init?(host pointer: UnsafePointer<sockaddr>) {
        switch Int32(pointer.pointee.sa_family) {
        case AF_INET:
            let address = UnsafeRawPointer(pointer).loadUnaligned(as: sockaddr_in.self)
            self.init(ipv4: UInt32(bigEndian: address.sin_addr.s_addr), port: 0)
        case AF_INET6:
            let address = UnsafeRawPointer(pointer).loadUnaligned(as: sockaddr_in6.self)
            let halves = withUnsafeBytes(of: address.sin6_addr) {
                (
                    UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                    UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                )
            }
            self.init(ipv6High: halves.0, low: halves.1, port: 0, scope: address.sin6_scope_id)
        default:
            return nil
        }
    }
}
