import DatagramPort
import Glibc
import HTTPMedia
import RTSP
import Transport

/// Why a camera cannot be reached, in words.
public struct CameraUnreachable: Error, Hashable, CustomStringConvertible {
    public var description: String
    /// What kind of reason it is.
    public var cause: UnreachableCause
    /// What the camera's answer means, if it answered.
    private(set) var answer: RTSPError?

    /// Names the reason.
    public init(_ description: String, cause: UnreachableCause = .other) {
        self.description = description
        self.cause = cause
    }

    /// A camera that answers, and cannot be used.
    init(answer: RTSPError) {
        self.init(answer.description)
        self.answer = answer
    }

    /// Why authentication failed, if that is the reason.
    var authenticationFailure: AuthenticationFailure? {
        guard case .unauthorized(let failure)? = answer else { return nil }
        return failure
    }

    /// Makes an error from one of the system's error numbers.
    init(_ what: String, errorNumber: Int32) {
        var buffer = [CChar](repeating: 0, count: 128)
        let message =
            strerror_r(errorNumber, &buffer, buffer.count) == 0
            ? String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            : "error \(errorNumber)"
        description = "\(what): \(message)"
        cause =
            switch errorNumber {
            case ECONNREFUSED: .refused
            case EHOSTUNREACH, EHOSTDOWN, ENETUNREACH: .noRoute
            case ETIMEDOUT: .timedOut
            default: .other
            }
    }
}

/// A non-blocking TCP connection to a camera.
struct CameraSocket: ~Copyable {
    let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Sets how many bytes have to wait before `poll` reports the socket as readable. The system makes room for them, and
    /// reports it earlier when its buffer is full.
    func setLowWaterMark(_ count: Int32) {
        var count = count
        // Without it the socket is read as often as something comes.
        _ = setsockopt(descriptor, SOL_SOCKET, SO_RCVLOWAT, &count, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Addresses of an HTTP server's host; see ``lookUp(host:port:mayHoldPassword:)``.
    static func lookUp(_ address: HTTPAddress) -> Result<[TransportAddress], CameraUnreachable> {
        lookUp(host: address.host, port: address.port, mayHoldPassword: address.mayHoldPassword)
    }

    /// Addresses of a host, found by asking the system; blocks.
    /// - Parameter mayHoldPassword: whether the address may have a password with characters that end it. The message
    ///   then says how to write them.
    static func lookUp(
        host: String, port: UInt16, mayHoldPassword: Bool = false
    ) -> Result<[TransportAddress], CameraUnreachable> {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = Int32(AI_NUMERICSERV)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &list)
        guard status == 0 else {
            let reason = String(cString: gai_strerror(status))
            let advice = mayHoldPassword ? "; write / ? # and @ of a password as %2F, %3F, %23 and %40" : ""
            return .failure(
                CameraUnreachable("the host name \(host) is not known (\(reason))\(advice)", cause: .unknownName))
        }
        defer { freeaddrinfo(list) }
        var addresses: [TransportAddress] = []
        var entry = list
        while let current = entry?.pointee, addresses.count < 8 {
            if let pointer = current.ai_addr, let address = TransportAddress(socketAddress: pointer) {
                addresses.append(address)
            }
            entry = current.ai_next
        }
        guard !addresses.isEmpty else {
            return .failure(CameraUnreachable("\(host) has no address", cause: .unknownName))
        }
        return .success(addresses)
    }

    /// Opens a connection. Waits up to `timeout`, but no longer than until the owner stops the source.
    static func connect(
        _ address: TransportAddress, timeout: Duration, control: SourceControl
    ) throws(CameraUnreachable) -> CameraSocket {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(address.socketFamily, type, 0)
        guard descriptor >= 0 else { throw CameraUnreachable("no socket", errorNumber: errno) }
        let socket = CameraSocket(descriptor: descriptor)
        var yes: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, size)
        setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &yes, size)
        let status = address.withSocketAddress { Glibc.connect(descriptor, $0, $1) }
        if status == 0 { return socket }
        guard errno == EINPROGRESS else { throw CameraUnreachable("cannot connect", errorNumber: errno) }
        let deadline = MonotonicClock.now + timeout
        while true {
            let left = deadline - MonotonicClock.now
            if left <= .zero {
                throw CameraUnreachable("no connection within \(timeout.components.seconds) s", cause: .timedOut)
            }
            if control.isStopping { throw CameraUnreachable("stopped") }
            var waiting = [
                pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0),
                pollfd(fd: control.wakeUp, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&waiting, 2, pollTimeout(left))
            // A request for a key frame has no meaning before the camera plays.
            if waiting[1].revents != 0 { _ = control.takeKeyFrameRequests() }
            guard waiting[0].revents != 0 else { continue }
            var error: Int32 = 0
            var length = size
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
            if error != 0 { throw CameraUnreachable("cannot connect", errorNumber: error) }
            return socket
        }
    }

    /// The time that is left until `deadline`. Throws when it is over, or the owner has stopped the source.
    static func timeLeft(
        until deadline: Instant, control: SourceControl, for what: String
    ) throws(CameraUnreachable) -> Duration {
        let left = deadline - MonotonicClock.now
        if left <= .zero { throw CameraUnreachable("waited too long for \(what)", cause: .silent) }
        if control.isStopping { throw CameraUnreachable("stopped") }
        return left
    }

    /// Waits until the descriptor is ready, but no longer than until `deadline` or until the owner stops the source.
    static func wait(
        _ descriptor: Int32, _ events: Int16, until deadline: Instant, control: SourceControl, for what: String
    ) throws(CameraUnreachable) {
        while true {
            let left = try timeLeft(until: deadline, control: control, for: what)
            var waiting = [
                pollfd(fd: descriptor, events: events, revents: 0),
                pollfd(fd: control.wakeUp, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&waiting, 2, pollTimeout(left))
            if waiting[1].revents != 0 { _ = control.takeKeyFrameRequests() }
            if waiting[0].revents != 0 { return }
        }
    }

    /// The outcome of a read or write.
    typealias Outcome = TCPSocket.Outcome
}
