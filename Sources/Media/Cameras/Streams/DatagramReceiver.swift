import DatagramPort
import Glibc
import Transport

/// Receives a stream in datagrams on one address, which may be a multicast group.
///
/// Nothing signs such datagrams. One sender counts at a time: others are dropped until it has been silent for a while.
struct DatagramReceiver: ~Copyable {
    private let descriptor: Int32
    private var sender: TransportAddress?
    private var lastDatagram = Instant.zero

    /// How many bytes the kernel should hold: two thirds of a second at 25 Mbit/s.
    private static let bufferSize: Int32 = 2 << 20
    private static let senderSilence = Duration.seconds(2)

    /// Listens on an address of this machine, or on a multicast group.
    init(on address: TransportAddress) throws(CameraUnreachable) {
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        descriptor = Glibc.socket(address.socketFamily, type, 0)
        guard descriptor >= 0 else { throw CameraUnreachable("no socket", errorNumber: errno) }
        var size = Self.bufferSize
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        if address.isMulticast {
            // Several programs of this machine may listen to a group.
            var yes: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        }
        guard address.withSocketAddress({ bind(descriptor, $0, $1) }) == 0 else {
            let number = errno
            close(descriptor)
            throw CameraUnreachable(
                "cannot listen on \(address) (it has to be an address of this machine or a multicast group, and no "
                    + "other program may use the port)", errorNumber: number)
        }
        guard !address.isMulticast || Self.join(address, descriptor) else {
            let number = errno
            close(descriptor)
            throw CameraUnreachable("cannot join the multicast group \(address)", errorNumber: number)
        }
    }

    deinit { close(descriptor) }

    private static func join(_ address: TransportAddress, _ descriptor: Int32) -> Bool {
        if address.family == .ipv4 {
            var request = ip_mreq()
            request.imr_multiaddr = in_addr(s_addr: UInt32(truncatingIfNeeded: address.low).bigEndian)
            return setsockopt(
                descriptor, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, &request, socklen_t(MemoryLayout<ip_mreq>.size)) == 0
        }
        var request = ipv6_mreq()
        request.ipv6mr_interface = address.scope
        withUnsafeMutableBytes(of: &request.ipv6mr_multiaddr) {
            $0.storeBytes(of: address.high.bigEndian, as: UInt64.self)
            $0.storeBytes(of: address.low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
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
        var count = 0
        let source = TransportAddress.filled { address, length in
            count = buffer.withUnsafeMutableBytes {
                recvfrom(descriptor, $0.baseAddress, $0.count, 0, address, length)
            }
            return count < 0 ? -1 : 0
        }
        guard count > 0, let source else { return nil }
        let now = MonotonicClock.now
        if let sender, !sender.hasSameHost(as: source), now - lastDatagram < Self.senderSilence { return nil }
        sender = source
        lastDatagram = now
        return count
    }
}
