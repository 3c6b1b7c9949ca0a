import Glibc
public import Transport

/// This host's address towards another one, as the kernel's routes say, with port 0; nil without a route. Nothing is sent.
public func ownAddress(towards other: TransportAddress) -> TransportAddress? {
    let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(other.family == .ipv4 ? AF_INET : AF_INET6, type, 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    // Any port will do: a connected UDP socket only remembers its destination.
    guard other.withPort(9).withSocketAddress({ connect(descriptor, $0, $1) }) == 0 else { return nil }
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            getsockname(descriptor, address, &length) == 0 ? TransportAddress(host: address) : nil
        }
    }
}
