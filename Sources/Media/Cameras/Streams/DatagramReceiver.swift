import DatagramPort
import Glibc
import Transport

/// Receives a stream in datagrams on one address, which may be a multicast group.
///
/// Nothing signs such datagrams. One sender counts at a time: others are dropped until it has been silent for a while.
struct DatagramReceiver: ~Copyable {
    private let descriptor: Int32
    private var sender: SocketAddress?
    private var lastDatagram = Instant.zero

    /// How many bytes the kernel should hold: two thirds of a second at 25 Mbit/s.
    private static let bufferSize: Int32 = 2 << 20
    private static let senderSilence = Duration.seconds(2)

    /// Listens on an address of this machine, or on a multicast group.
    init(on address: SocketAddress) throws(CameraUnreachable) {
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        descriptor = Glibc.socket(address.family, type, 0)
        guard descriptor >= 0 else { throw CameraUnreachable("no socket", errorNumber: errno) }
        var size = Self.bufferSize
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        if address.isMulticast {
            // Several programs of this machine may listen to a group.
            var yes: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        }
        guard address.withPointer({ bind(descriptor, $0, $1) }) == 0 else {
            let number = errno
            close(descriptor)
            throw CameraUnreachable(
                "cannot listen on \(address.text) (it has to be an address of this machine or a multicast group, and no "
                    + "other program may use the port)", errorNumber: number)
        }
        guard !address.isMulticast || Self.join(address, descriptor) else {
            let number = errno
            close(descriptor)
            throw CameraUnreachable("cannot join the multicast group \(address.text)", errorNumber: number)
        }
    }

    deinit { close(descriptor) }

    private static func join(_ address: SocketAddress, _ descriptor: Int32) -> Bool {
        let bytes = address.addressBytes
        if address.family == AF_INET {
            var request = ip_mreq()
            withUnsafeMutableBytes(of: &request.imr_multiaddr) { $0.copyBytes(from: bytes) }
            return setsockopt(
                descriptor, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, &request, socklen_t(MemoryLayout<ip_mreq>.size)) == 0
        }
        var request = ipv6_mreq()
        withUnsafeMutableBytes(of: &request.ipv6mr_multiaddr) { $0.copyBytes(from: bytes) }
        return setsockopt(
            descriptor, Int32(IPPROTO_IPV6), IPV6_JOIN_GROUP, &request, socklen_t(MemoryLayout<ipv6_mreq>.size)) == 0
    }

    /// Waits for a datagram and reads it. Returns how many bytes it has; nil for one of another sender.
    /// - Throws: at `deadline`, and when the owner stops the source.
    mutating func receive(
        _ buffer: inout [UInt8], until deadline: Instant, control: SourceControl
    ) throws(CameraUnreachable) -> Int? {
        try CameraSocket.wait(
            descriptor, Int16(POLLIN), until: deadline, control: control, for: "the camera's datagrams")
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let count = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                buffer.withUnsafeMutableBytes { recvfrom(descriptor, $0.baseAddress, $0.count, 0, address, &length) }
            }
        }
        guard count > 0 else { return nil }
        let now = MonotonicClock.now
        if let sender, !sender.hasSameHost(as: storage), now - lastDatagram < Self.senderSilence { return nil }
        sender = SocketAddress(storage)
        lastDatagram = now
        return count
    }
}

extension SocketAddress {
    /// A copy of one that the system has filled in; nil for a family other than IPv4 and IPv6.
    init?(_ storage: sockaddr_storage) {
        guard let empty = SocketAddress.any(family: Int32(storage.ss_family), port: 0) else { return nil }
        self = empty.copying(storage)
    }

    /// Whether it is a multicast group.
    var isMulticast: Bool {
        let bytes = addressBytes
        return bytes.count == 4 ? bytes[0] >> 4 == 0xE : bytes.first == 0xFF
    }

    /// The address and the port as people write them.
    var text: String {
        var name = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        var bytes = addressBytes
        guard inet_ntop(family, &bytes, &name, socklen_t(name.count)) != nil else { return "port \(port)" }
        let host = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return family == AF_INET6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
