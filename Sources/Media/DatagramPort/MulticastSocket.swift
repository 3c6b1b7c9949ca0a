import Glibc
public import Transport

/// An interface of this host on which others may be reached by multicast.
public struct MulticastInterface: Hashable, Sendable {
    /// Its name, for example `eth0`.
    public var name: String
    /// Its number.
    public var index: UInt32
    /// Its addresses that other hosts may reach, with port 0.
    public var addresses: [TransportAddress]

    /// Describes an interface.
    public init(name: String, index: UInt32, addresses: [TransportAddress]) {
        self.name = name
        self.index = index
        self.addresses = addresses
    }
}

/// The interfaces that are up, support multicast and join more than two hosts, in the kernel's order. Loopback and the bridges
/// of containers are left out.
public func multicastInterfaces() -> [MulticastInterface] {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { return [] }
    defer { freeifaddrs(first) }
    let filter = HostAddressFilter()
    var found: [MulticastInterface] = []
    var next = first
    while let entry = next?.pointee {
        next = entry.ifa_next
        let required = UInt32(IFF_UP | IFF_RUNNING | IFF_MULTICAST)
        guard entry.ifa_flags & required == required, entry.ifa_flags & UInt32(IFF_POINTOPOINT) == 0,
            let pointer = entry.ifa_addr, let address = TransportAddress(host: pointer)
        else { continue }
        let name = String(cString: entry.ifa_name)
        guard filter.accepts(HostAddress(interface: name, address: address)) else { continue }
        if let index = found.firstIndex(where: { $0.name == name }) {
            if !found[index].addresses.contains(address) { found[index].addresses.append(address) }
        } else {
            found.append(MulticastInterface(name: name, index: if_nametoindex(name), addresses: [address]))
        }
    }
    return found
}

/// A UDP socket for one multicast group on one interface. It receives only what is sent to the group there, so nobody outside
/// the link reaches it. Other programs on this host may use the same group and port. It is closed with its last reference.
public final class MulticastSocket: Sendable {
    /// The descriptor, for ``ShardContext/watch(_:for:handler:)``.
    public let descriptor: Int32
    private let group: TransportAddress

    /// Joins a group.
    /// - Parameters:
    ///   - group: the address and the port. The interface of an IPv6 group is filled in.
    ///   - interface: where to join.
    public init(joining group: TransportAddress, on interface: MulticastInterface) throws(SystemCallError) {
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let isIPv4 = group.family == .ipv4
        let descriptor = socket(isIPv4 ? AF_INET : AF_INET6, type, 0)
        self.descriptor = descriptor
        self.group = group
        func check(_ status: Int32, _ call: String) throws(SystemCallError) {
            guard status < 0 else { return }
            throw SystemCallError(
                call: call, purpose: "cannot join the group \(group) on \(interface.name)", errorNumber: errno)
        }
        func set<Value>(_ level: Int32, _ option: Int32, _ value: Value) throws(SystemCallError) {
            let status = withUnsafeBytes(of: value) {
                setsockopt(descriptor, level, option, $0.baseAddress, socklen_t($0.count))
            }
            try check(status, "setsockopt")
        }
        try check(descriptor, "socket")
        try set(SOL_SOCKET, SO_REUSEADDR, Int32(1))
        let index = Int32(bitPattern: interface.index)
        if isIPv4 {
            let address = in_addr(s_addr: UInt32(truncatingIfNeeded: group.low).bigEndian)
            let membership = ip_mreqn(imr_multiaddr: address, imr_address: in_addr(), imr_ifindex: index)
            // Without this, the kernel hands over what other sockets have joined on other interfaces.
            try set(Int32(IPPROTO_IP), IP_MULTICAST_ALL, Int32(0))
            try set(Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, membership)
            try set(Int32(IPPROTO_IP), IP_MULTICAST_IF, membership)
            try set(Int32(IPPROTO_IP), IP_MULTICAST_TTL, Int32(255))
        } else {
            var membership = ipv6_mreq()
            membership.ipv6mr_interface = interface.index
            withUnsafeMutableBytes(of: &membership.ipv6mr_multiaddr) {
                $0.storeBytes(of: group.high.bigEndian, as: UInt64.self)
                $0.storeBytes(of: group.low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            // The group exists on each link, so an address alone does not say which one is meant.
            let status = interface.name.withCString {
                setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, $0, socklen_t(strlen($0) + 1))
            }
            try check(status, "setsockopt")
            try set(Int32(IPPROTO_IPV6), IPV6_V6ONLY, Int32(1))
            try set(Int32(IPPROTO_IPV6), IPV6_MULTICAST_ALL, Int32(0))
            try set(Int32(IPPROTO_IPV6), IPV6_JOIN_GROUP, membership)
            try set(Int32(IPPROTO_IPV6), IPV6_MULTICAST_IF, index)
            try set(Int32(IPPROTO_IPV6), IPV6_MULTICAST_HOPS, Int32(255))
        }
        // Bound to the group, the socket gets nothing that is sent to this host's own addresses.
        try check(self.group.withSocketAddress { bind(descriptor, $0, $1) }, "bind")
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Sends a datagram to the group, or to one host. What cannot be sent is lost, as in the network.
    public func send(_ bytes: [UInt8], to destination: TransportAddress? = nil) {
        _ = (destination ?? group).withSocketAddress {
            sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, $1)
        }
    }

    /// Receives a waiting datagram; nil if there is none.
    public func receive(into buffer: UnsafeMutableRawBufferPointer) -> (count: Int, source: TransportAddress)? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let count = recvfrom(descriptor, buffer.baseAddress, buffer.count, 0, address, &length)
                guard count >= 0, let source = TransportAddress(socketAddress: address) else { return nil }
                return (count, source)
            }
        }
    }
}
