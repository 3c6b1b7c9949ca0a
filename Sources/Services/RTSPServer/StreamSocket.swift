import DatagramPort
import Glibc
import Transport

/// A TCP socket that never blocks. It is closed when its last reference goes.
final class StreamSocket {
    let descriptor: Int32

    private init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Listens on an address.
    static func listening(on address: TransportAddress) throws(SystemCallError) -> StreamSocket {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(address.family == .ipv4 ? AF_INET : AF_INET6, type, 0)
        func failure(_ call: String) -> SystemCallError {
            SystemCallError(
                call: call,
                purpose: "cannot listen on \(address) for RTSP (choose another rtsp.port, or stop the program that "
                    + "uses this one)", errorNumber: errno)
        }
        guard descriptor >= 0 else { throw failure("socket") }
        let socket = StreamSocket(descriptor: descriptor)
        socket.set(SOL_SOCKET, SO_REUSEADDR, 1)
        if address.family == .ipv6 { socket.set(Int32(IPPROTO_IPV6), IPV6_V6ONLY, 1) }
        let bound = withSocketAddress(address) { Glibc.bind(descriptor, $0, $1) }
        guard bound == 0 else { throw failure("bind") }
        guard Glibc.listen(descriptor, 128) == 0 else { throw failure("listen") }
        return socket
    }

    /// What came of accepting.
    enum Acceptance {
        case connection(StreamSocket, peer: TransportAddress)
        /// No connection waits.
        case none
        /// One connection failed; another may wait.
        case failed
        /// The process or the system has run out of descriptors or memory.
        case exhausted
    }

    /// Accepts a waiting connection.
    func accept() -> Acceptance {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let accepted = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.accept(descriptor, $0, &length) }
        }
        guard accepted >= 0 else {
            switch errno {
            case EAGAIN, EWOULDBLOCK: return .none
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted
            default: return .failed
            }
        }
        let socket = StreamSocket(descriptor: accepted)
        guard let peer = TransportAddress(storage), fcntl(accepted, F_SETFL, O_NONBLOCK) == 0 else { return .failed }
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        socket.set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        // What the kernel has not sent yet is delay that nothing here can take back. So its buffer is small, and the
        // server skips frames instead.
        socket.set(Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, 128 * 1024)
        socket.set(SOL_SOCKET, SO_KEEPALIVE, 1)
        return .connection(socket, peer: peer)
    }

    /// The address of this side; nil if the connection has gone.
    var localAddress: TransportAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return status == 0 ? TransportAddress(storage) : nil
    }

    /// What came of reading or writing.
    enum Outcome: Equatable {
        case bytes(Int)
        case wouldBlock
        case closed
    }

    /// Reads what has arrived.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        guard !buffer.isEmpty else { return .wouldBlock }
        // In practice, a signal interrupts no call on a socket that never blocks more than once.
        for _ in 0..<4 {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .closed }
            if errno == EINTR { continue }
            return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .closed
        }
        return .wouldBlock
    }

    /// Writes as much as the kernel accepts.
    func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        guard !bytes.isEmpty else { return .bytes(0) }
        for _ in 0..<4 {
            let count = send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count >= 0 { return .bytes(count) }
            if errno == EINTR { continue }
            return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .closed
        }
        return .wouldBlock
    }

    /// Whether the kernel has bytes that it has not sent yet.
    var hasUnsentBytes: Bool {
        // SIOCOUTQNSD of <linux/sockios.h>, which Glibc's module does not have.
        let request: UInt = 0x894B
        var count: Int32 = 0
        return ioctl(descriptor, request, &count) == 0 && count > 0
    }

    /// The connection ends with a reset, and what the kernel has not sent is thrown away (SO_LINGER, socket(7)).
    func resetsAtEnd() {
        var value = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
    }

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        // If an option is refused, the connection is slower, not wrong.
        _ = setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

/// Calls `body` with an address in the form that system calls expect.
private func withSocketAddress<Result>(
    _ address: TransportAddress, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
    switch address.family {
    case .ipv4:
        var value = sockaddr_in()
        value.sin_family = sa_family_t(AF_INET)
        value.sin_port = address.port.bigEndian
        value.sin_addr.s_addr = UInt32(truncatingIfNeeded: address.low).bigEndian
        return withUnsafePointer(to: value) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    case .ipv6:
        var value = sockaddr_in6()
        value.sin6_family = sa_family_t(AF_INET6)
        value.sin6_port = address.port.bigEndian
        value.sin6_scope_id = address.scope
        withUnsafeMutableBytes(of: &value.sin6_addr) { bytes in
            bytes.storeBytes(of: address.high.bigEndian, as: UInt64.self)
            bytes.storeBytes(of: address.low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return withUnsafePointer(to: value) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
    }
}

extension TransportAddress {
    /// An address in the form that system calls return; nil for another family.
    fileprivate init?(_ storage: sockaddr_storage) {
        let address = withUnsafeBytes(of: storage) { bytes -> TransportAddress? in
            switch Int32(storage.ss_family) {
            case AF_INET:
                let value = bytes.loadUnaligned(as: sockaddr_in.self)
                return TransportAddress(
                    ipv4: UInt32(bigEndian: value.sin_addr.s_addr), port: UInt16(bigEndian: value.sin_port))
            case AF_INET6:
                let value = bytes.loadUnaligned(as: sockaddr_in6.self)
                let (high, low) = withUnsafeBytes(of: value.sin6_addr) {
                    ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                }
                return TransportAddress(
                    ipv6High: UInt64(bigEndian: high), low: UInt64(bigEndian: low),
                    port: UInt16(bigEndian: value.sin6_port), scope: value.sin6_scope_id)
            default:
                return nil
            }
        }
        guard let address else { return nil }
        self = address
    }
}

extension SystemCallError {
    /// Whether the host does not have the address's family, or none of its addresses.
    var isMissingFamily: Bool { errorNumber == EAFNOSUPPORT || errorNumber == EADDRNOTAVAIL }
}
