import Glibc
import Transport

/// An address in the form of the system's calls.
struct SocketAddress: Sendable {
    let family: Int32
    private var storage: sockaddr_storage
    private let length: socklen_t

    init?(_ entry: addrinfo) {
        guard let address = entry.ai_addr, Int(entry.ai_addrlen) <= MemoryLayout<sockaddr_storage>.size else {
            return nil
        }
        self.init(family: entry.ai_family, address, length: entry.ai_addrlen)
    }

    private init(family: Int32, _ address: UnsafePointer<sockaddr>, length: socklen_t) {
        self.family = family
        self.length = length
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(length)))
        }
        self.storage = storage
    }

    /// The unspecified address of a family with a port, to bind to; nil for a family other than IPv4 and IPv6.
    static func any(family: Int32, port: UInt16) -> SocketAddress? {
        var entry: SocketAddress?
        switch family {
        case AF_INET:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            entry = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    SocketAddress(family: family, $0, length: socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        case AF_INET6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            entry = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    SocketAddress(family: family, $0, length: socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        default:
            return nil
        }
        entry?.port = port
        return entry
    }

    /// The port in host byte order.
    var port: UInt16 {
        // Both families keep the port in the same place, after the family.
        get { withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) } }
        set {
            withUnsafeMutableBytes(of: &storage) {
                $0.storeBytes(of: newValue.bigEndian, toByteOffset: 2, as: UInt16.self)
            }
        }
    }

    /// The address alone, 4 or 16 bytes in network byte order.
    var addressBytes: [UInt8] {
        withUnsafeBytes(of: storage) { Array($0[family == AF_INET ? 4..<8 : 8..<24]) }
    }

    /// The same family, with the content of another address of it.
    func copying(_ other: sockaddr_storage) -> SocketAddress {
        var copy = self
        copy.storage = other
        return copy
    }

    /// The same host with another port.
    func withPort(_ port: UInt16) -> SocketAddress {
        var copy = self
        copy.port = port
        return copy
    }

    /// Whether a datagram with this source comes from the same host, whatever its port.
    func hasSameHost(as other: sockaddr_storage) -> Bool {
        guard Int32(other.ss_family) == family else { return false }
        let range = family == AF_INET ? 4..<8 : 8..<24
        return withUnsafeBytes(of: storage) { own in
            withUnsafeBytes(of: other) { own[range].elementsEqual($0[range]) }
        }
    }

    /// Whether a numeric address in text is a different host. A name is not looked up, and is not treated as different.
    func isOther(than text: String) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16)
        let trimmed = text.first == "[" ? String(text.dropFirst().prefix { $0 != "]" }) : text
        for (candidate, range) in [(AF_INET, 4..<8), (AF_INET6, 8..<24)]
        where inet_pton(candidate, trimmed, &bytes) == 1 {
            guard candidate == family else { return true }
            return !withUnsafeBytes(of: storage) { $0[range].elementsEqual(bytes.prefix(range.count)) }
        }
        return false
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
