import Glibc
public import Transport

/// A TCP socket that accepts connections and never blocks. It ends with its last reference.
public final class TCPListener: Sendable {
    /// The descriptor, for ``ShardContext/watch(_:for:handler:)``.
    public let descriptor: Int32

    /// Listens on an address; port 0 lets the kernel choose one.
    /// - Parameter backlog: how many connections may wait until they are accepted.
    /// - Throws: when the address cannot be used, or another program has the port.
    public init(on address: TransportAddress, backlog: Int = 64) throws(SystemCallError) {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.family == .ipv4 ? AF_INET : AF_INET6, type, 0)
        self.descriptor = descriptor
        func failure(_ call: String) -> SystemCallError {
            SystemCallError(call: call, purpose: "cannot listen on TCP \(address)", errorNumber: errno)
        }
        guard descriptor >= 0 else { throw failure("socket") }
        Self.set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        if address.family == .ipv6 { Self.set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 1) }
        guard address.withSocketAddress({ bind(descriptor, $0, $1) }) == 0 else { throw failure("bind") }
        guard listen(descriptor, Int32(clamping: backlog)) == 0 else { throw failure("listen") }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The address that it listens on.
    public var localAddress: TransportAddress? { TransportAddress.filled { getsockname(descriptor, $0, $1) } }

    /// What came of accepting.
    public enum Acceptance: ~Copyable {
        /// A connection from `peer` to this host's address `local`.
        case connection(TCPSocket, peer: TransportAddress, local: TransportAddress)
        /// No connection waits.
        case none
        /// One connection has failed; another may wait.
        case failed
        /// The process or the system has run out of descriptors or memory.
        case exhausted
    }

    /// Accepts a waiting connection.
    /// - Parameters:
    ///   - patience: how long sent bytes may stay unacknowledged before the connection is treated as lost. nil leaves it to
    ///     the kernel, which also keeps the connection of a peer that is there and reads nothing.
    ///   - unsent: how many bytes the kernel holds at most that it has not sent yet.
    ///   - sendBuffer: how many bytes it holds at most, with those that are not acknowledged yet. With nil it grows with
    ///     what the path can carry.
    public func accept(patience: Duration?, unsent: Int, sendBuffer: Int?) -> Acceptance {
        var accepted: Int32 = -1
        let peer = TransportAddress.filled { address, length in
            accepted = Glibc.accept(descriptor, address, length)
            return accepted < 0 ? -1 : 0
        }
        guard accepted >= 0 else {
            switch errno {
            case EAGAIN, EWOULDBLOCK: return .none
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted
            default: return .failed
            }
        }
        let connection = TCPSocket(descriptor: accepted)
        guard let peer, let local = TransportAddress.filled(by: { getsockname(accepted, $0, $1) }),
            fcntl(accepted, F_SETFL, O_NONBLOCK) == 0
        else { return .failed }
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        let tcp = Int32(IPPROTO_TCP)
        Self.set(accepted, tcp, TCP_NODELAY, 1)
        if let patience {
            Self.set(accepted, tcp, TCP_USER_TIMEOUT, Int32(clamping: patience.wholeNanoseconds / 1_000_000))
        }
        Self.set(accepted, tcp, TCP_NOTSENT_LOWAT, Int32(clamping: unsent))
        if let sendBuffer { Self.set(accepted, SOL_SOCKET, SO_SNDBUF, Int32(clamping: sendBuffer)) }
        return .connection(connection, peer: peer, local: local)
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        // If an option is refused, a connection is slower or ends later, not wrong.
        _ = setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
