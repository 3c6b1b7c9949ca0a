import DatagramPort
import Glibc
import RTSP
import Transport

/// These methods wait for the camera: until a deadline at most, and no longer than until the owner stops the source.
extension StreamSocket {
    /// Opens a connection and, where `serverName` is given, TLS inside it.
    static func open(
        _ address: TransportAddress, serverName: String?, timeout: Duration, control: SourceControl
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

extension CameraConnection {
    /// Opens the connection, or both of a tunnel. `verify` is called before the first byte of RTSP or HTTP is sent,
    /// with the fingerprint of the certificate where TLS is used. `refusesBasic` is called after it, and says whether
    /// the password itself must not be sent for a tunnel.
    static func open(
        _ url: RTSPURL, at address: TransportAddress, isTunnelled: Bool, timeout: Duration, control: SourceControl,
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
}
