import DatagramPort
import Glibc
import RTSP
import Transport

/// One TCP connection, through TLS where the address asks for it. It never blocks once it is open.
final class StreamSocket {
    private let socket: CameraSocket
    private let tls: TLSClient?

    /// Opens a connection and, where `serverName` is given, TLS inside it.
    static func open(
        _ address: SocketAddress, serverName: String?, timeout: Duration, control: SourceControl
    ) throws(CameraUnreachable) -> StreamSocket {
        let deadline = MonotonicClock.now + timeout
        let socket = try CameraSocket.connect(address, timeout: timeout, control: control)
        guard let serverName else { return StreamSocket(socket: socket, tls: nil) }
        guard let tls = TLSClient(serverName: serverName) else { throw CameraUnreachable("no memory for TLS") }
        while try !tls.handshake(socket.descriptor) {
            let events = Int16(tls.hasPendingOutput ? POLLIN | POLLOUT : POLLIN)
            try CameraSocket.wait(
                socket.descriptor, events, until: deadline, control: control, for: "the end of the TLS handshake")
        }
        return StreamSocket(socket: socket, tls: tls)
    }

    private init(socket: consuming CameraSocket, tls: TLSClient?) {
        self.socket = socket
        self.tls = tls
    }

    var descriptor: Int32 { socket.descriptor }
    var hasPendingOutput: Bool { tls?.hasPendingOutput ?? false }
    var certificateFingerprint: String? { tls?.certificateFingerprint }

    func receive(_ buffer: UnsafeMutableRawBufferPointer) -> CameraSocket.Outcome {
        if let tls { return tls.receive(descriptor, buffer) }
        return TCPSocket.receive(from: descriptor, into: buffer)
    }

    /// Waits for bytes and reads them; never returns ``CameraSocket/Outcome/wouldBlock``. It throws at `deadline`, and
    /// when the owner stops the source, even while bytes keep coming.
    func receive(
        _ buffer: inout [UInt8], until deadline: Instant, control: SourceControl, for what: String
    ) throws(CameraUnreachable) -> CameraSocket.Outcome {
        while true {
            _ = try CameraSocket.timeLeft(until: deadline, control: control, for: what)
            let outcome = buffer.withUnsafeMutableBytes { receive($0) }
            guard case .wouldBlock = outcome else { return outcome }
            let events = Int16(hasPendingOutput ? POLLIN | POLLOUT : POLLIN)
            try CameraSocket.wait(descriptor, events, until: deadline, control: control, for: what)
        }
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> CameraSocket.Outcome {
        if let tls { return tls.send(descriptor, bytes) }
        return TCPSocket.send(bytes, to: descriptor)
    }

    /// Sets how many bytes have to wait before the connection becomes readable.
    func setLowWaterMark(_ count: Int32) { socket.setLowWaterMark(count) }

    /// Writes the bytes that wait in TLS.
    func flush() -> CameraSocket.Outcome { tls?.flush(descriptor) ?? .wouldBlock }

    /// Writes all of a short message.
    func sendAll(_ bytes: [UInt8], until deadline: Instant, control: SourceControl) throws(CameraUnreachable) {
        var offset = 0
        while offset < bytes.count || hasPendingOutput {
            let outcome = bytes[offset...].withUnsafeBytes { send($0) }
            switch outcome {
            case .bytes(let count): offset += count
            case .wouldBlock:
                try CameraSocket.wait(
                    descriptor, Int16(POLLOUT), until: deadline, control: control, for: "the camera to read")
            case .closed: throw CameraUnreachable("the camera closed the connection")
            case .failed(let number): throw CameraUnreachable("the connection was lost", errorNumber: number)
            }
        }
    }
}

/// Carries the bytes of an RTSP session to and from a camera: over one TCP connection, plain or with TLS, or over the
/// two connections of a tunnel in HTTP.
final class CameraConnection {
    /// Carries bytes from the camera, and without a tunnel also to it.
    private let inbound: StreamSocket
    /// The POST of a tunnel.
    private let outbound: StreamSocket?
    /// RTSP bytes that came together with the answer to the GET.
    private var early: [UInt8]
    /// Base64 that waits for the POST's connection.
    private var encoded: [UInt8] = []
    private var encodedOffset = 0
    /// The camera's address.
    let address: SocketAddress
    /// Whether the camera has opened a tunnel after a login by Digest.
    let hasTakenDigest: Bool

    private init(
        inbound: StreamSocket, outbound: StreamSocket?, early: [UInt8], address: SocketAddress,
        hasTakenDigest: Bool = false
    ) {
        self.hasTakenDigest = hasTakenDigest
        self.inbound = inbound
        self.outbound = outbound
        self.early = early
        self.address = address
    }

    /// Opens the connection, or both of a tunnel. `verify` is called before the first byte of RTSP or HTTP is sent,
    /// with the fingerprint of the certificate where TLS is used. `refusesBasic` is called after it, and says whether
    /// the password itself must not be sent for a tunnel.
    static func open(
        _ url: RTSPURL, at address: SocketAddress, isTunnelled: Bool, timeout: Duration, control: SourceControl,
        random: inout RandomSource, refusesBasic: () -> Bool, verify: (String?) throws(CameraUnreachable) -> Void
    ) throws(CameraUnreachable) -> CameraConnection {
        let name = url.isSecure ? url.host : nil
        guard isTunnelled else {
            let stream = try StreamSocket.open(address, serverName: name, timeout: timeout, control: control)
            try verify(stream.certificateFingerprint)
            return CameraConnection(inbound: stream, outbound: nil, early: [], address: address)
        }
        var tunnel: RTSPTunnel?
        // The second attempt carries the credentials that the server asked for at the first.
        for _ in 0..<2 {
            let deadline = MonotonicClock.now + timeout
            let inbound = try StreamSocket.open(address, serverName: name, timeout: timeout, control: control)
            try verify(inbound.certificateFingerprint)
            var current = tunnel ?? RTSPTunnel(url: url, refusesBasic: refusesBasic(), random: &random)
            defer { tunnel = current }
            try inbound.sendAll(current.get(), until: deadline, control: control)
            var bytes: [UInt8] = []
            var answer = RTSPTunnel.Answer.incomplete
            while answer == .incomplete {
                try readMore(inbound, &bytes, until: deadline, control: control)
                do throws(RTSPError) {
                    answer = try current.handle(bytes, random: &random)
                } catch {
                    throw CameraUnreachable(answer: error)
                }
            }
            guard case .open(let length) = answer else { continue }
            let outbound = try StreamSocket.open(address, serverName: name, timeout: timeout, control: control)
            try verify(outbound.certificateFingerprint)
            try outbound.sendAll(current.post(), until: deadline, control: control)
            return CameraConnection(
                inbound: inbound, outbound: outbound, early: Array(bytes[length...]), address: address,
                hasTakenDigest: current.hasTakenDigest)
        }
        // The tunnel itself refuses a second challenge.
        throw CameraUnreachable("the camera keeps asking for credentials")
    }

    private static func readMore(
        _ stream: StreamSocket, _ bytes: inout [UInt8], until deadline: Instant, control: SourceControl
    ) throws(CameraUnreachable) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        switch try stream.receive(&buffer, until: deadline, control: control, for: "the answer to the GET") {
        case .bytes(let count): bytes += buffer[..<count]
        case .wouldBlock: break
        case .closed: throw CameraUnreachable("the camera closed the connection instead of opening a tunnel")
        case .failed(let number): throw CameraUnreachable("the connection was lost", errorNumber: number)
        }
    }

    // MARK: Bytes

    /// The descriptors to watch for reading, and for writing where `hasOutput` or earlier bytes wait.
    func watch(hasOutput: Bool, _ add: (pollfd) -> Void) {
        let waits = hasOutput || hasPendingOutput
        guard let outbound = outbound?.descriptor else {
            add(pollfd(fd: inbound.descriptor, events: Int16(waits ? POLLIN | POLLOUT : POLLIN), revents: 0))
            return
        }
        add(pollfd(fd: inbound.descriptor, events: Int16(POLLIN), revents: 0))
        if waits { add(pollfd(fd: outbound, events: Int16(POLLOUT), revents: 0)) }
    }

    /// Sets how many bytes of the camera have to wait before the connection becomes readable. An end or an error always
    /// shows at once.
    func setLowWaterMark(_ count: Int32) { inbound.setLowWaterMark(count) }

    /// Whether accepted bytes still wait for the socket.
    var hasPendingOutput: Bool {
        guard outbound != nil else { return inbound.hasPendingOutput }
        return encodedOffset < encoded.count || (outbound?.hasPendingOutput ?? false)
    }

    /// Bytes that wait here or that the camera's end has not acknowledged. A camera that reads too slowly shows up here
    /// first.
    var unacknowledgedBytes: Int {
        var count: Int32 = 0
        // SIOCOUTQ of <linux/sockios.h>, which Swift does not import; it has TIOCOUTQ's number.
        let answer = ioctl((outbound ?? inbound).descriptor, UInt(TIOCOUTQ), &count)
        return max(0, encoded.count - encodedOffset) + (answer == 0 ? Int(count) : 0)
    }

    /// Reads what has arrived.
    func receive(_ buffer: UnsafeMutableRawBufferPointer) -> CameraSocket.Outcome {
        guard early.isEmpty else {
            let count = min(early.count, buffer.count)
            buffer.copyBytes(from: early[..<count])
            early.removeFirst(count)
            return .bytes(count)
        }
        return inbound.receive(buffer)
    }

    /// Accepts bytes to send; returns how many.
    func send(_ bytes: UnsafeRawBufferPointer) -> CameraSocket.Outcome {
        guard outbound != nil else { return inbound.send(bytes) }
        let outcome = flush()
        guard case .wouldBlock = outcome, !hasPendingOutput else { return outcome }
        encoded = RTSPTunnel.encode(bytes)
        encodedOffset = 0
        if case .failed(let number) = flush() { return .failed(number) }
        return .bytes(bytes.count)
    }

    /// Writes the waiting bytes; ``CameraSocket/Outcome/wouldBlock`` when none are left, or the socket accepts no more.
    @discardableResult
    func flush() -> CameraSocket.Outcome {
        guard outbound != nil else { return inbound.flush() }
        while encodedOffset < encoded.count {
            let outcome = encoded[encodedOffset...].withUnsafeBytes { outbound?.send($0) ?? .closed }
            guard case .bytes(let count) = outcome else { return outcome }
            encodedOffset += count
        }
        return outbound?.flush() ?? .closed
    }
}
