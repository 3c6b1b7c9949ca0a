import Glibc
public import Transport

/// The name of a host could not be turned into addresses.
public struct UnknownHostName: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name, and what the system says about it.
    public var description: String

    /// Describes what went wrong.
    public init(description: String) {
        self.description = description
    }
}

/// The addresses of a host, found by asking the system, IPv4 first. It blocks, so it belongs on a thread of its own.
/// - Parameter host: a name or an address.
public func lookUpAddresses(of host: String, port: UInt16) throws(UnknownHostName) -> [TransportAddress] {
    if let literal = TransportAddress(host, port: port) { return [literal] }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    hints.ai_flags = Int32(AI_ADDRCONFIG)
    var list: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, nil, &hints, &list)
    guard status == 0 else {
        throw UnknownHostName(description: "\(host): \(String(cString: gai_strerror(status)))")
    }
    defer { freeaddrinfo(list) }
    var found: [TransportAddress] = []
    var entry = list
    while let current = entry?.pointee, found.count < 8 {
        entry = current.ai_next
        guard let pointer = current.ai_addr, let address = TransportAddress(host: pointer)?.withPort(port),
            !found.contains(address)
        else { continue }
        found.append(address)
    }
    guard !found.isEmpty else { throw UnknownHostName(description: "\(host): it has no address") }
    return found.filter { $0.family == .ipv4 } + found.filter { $0.family == .ipv6 }
}
