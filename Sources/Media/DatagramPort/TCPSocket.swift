import Glibc
public import Transport

/// A non-blocking TCP connection, which ends with its value.
public struct TCPSocket: ~Copyable, Sendable {
    /// The descriptor, for ``ShardContext/watch(_:for:handler:)``.
    public let descriptor: Int32

    /// The outcome of a read or a write.
    public enum Outcome: Hashable, Sendable {
        /// So many bytes were read or written, at least one.
        case bytes(Int)
        /// Nothing can be read or written now.
        case wouldBlock
        /// The other side has closed.
        case closed
        /// The connection has failed with this `errno`.
        case failed(Int32)
    }

    /// Takes over a descriptor.
    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Begins to connect. The descriptor becomes writable when the connection is open or has failed:
    /// ``connectionError`` says which.
    /// - Parameters:
    ///   - source: the own address to connect from; its port is ignored. nil leaves the choice to the kernel.
    ///   - patience: how long sent bytes may stay unacknowledged before the connection is treated as lost.
    ///   - unsent: how many bytes the kernel holds at most that it has not sent yet.
    ///   - sendBuffer: how many bytes it holds at most, with those that are not acknowledged yet.
    public static func connect(
        to address: TransportAddress, from source: TransportAddress? = nil, patience: Duration, unsent: Int,
        sendBuffer: Int
    ) throws(SystemCallError) -> TCPSocket {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let purpose = "cannot connect to \(address)"
        let descriptor = socket(address.family == .ipv4 ? AF_INET : AF_INET6, type, 0)
        guard descriptor >= 0 else { throw SystemCallError(call: "socket", purpose: purpose, errorNumber: errno) }
        let connection = TCPSocket(descriptor: descriptor)
        let tcp = Int32(IPPROTO_TCP)
        connection.set(tcp, TCP_NODELAY, 1)
        connection.set(tcp, TCP_USER_TIMEOUT, Int32(clamping: patience.wholeNanoseconds / 1_000_000))
        connection.set(tcp, TCP_NOTSENT_LOWAT, Int32(clamping: unsent))
        connection.set(SOL_SOCKET, SO_SNDBUF, Int32(clamping: sendBuffer))
        if let source, source.withPort(0).withSocketAddress({ Glibc.bind(descriptor, $0, $1) }) != 0 {
            throw SystemCallError(call: "bind", purpose: purpose, errorNumber: errno)
        }
        let status = address.withSocketAddress { Glibc.connect(descriptor, $0, $1) }
        if status != 0, errno != EINPROGRESS {
            throw SystemCallError(call: "connect", purpose: purpose, errorNumber: errno)
        }
        return connection
    }

    /// Sets an option (setsockopt(2)).
    func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        // The connection works without any of them.
        _ = setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// The `errno` with which the connection has failed; 0 while it has not. Reading it resets it.
    public var connectionError: Int32 {
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno
    }

    /// Reads what has arrived.
    public func receive(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        Self.receive(from: descriptor, into: buffer)
    }

    /// Writes as much as the connection takes.
    public func send(_ bytes: UnsafeRawBufferPointer) -> Outcome { Self.send(bytes, to: descriptor) }

    /// Reads what has arrived at a descriptor.
    public static func receive(from descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        guard buffer.count > 0 else { return .wouldBlock }
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .closed }
            if errno == EINTR { continue }
            return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .failed(errno)
        }
    }

    /// Writes as much as a descriptor takes.
    public static func send(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Outcome {
        guard bytes.count > 0 else { return .wouldBlock }
        while true {
            let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count > 0 { return .bytes(count) }
            if count == 0 { return .wouldBlock }
            if errno == EINTR { continue }
            return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .failed(errno)
        }
    }
}
