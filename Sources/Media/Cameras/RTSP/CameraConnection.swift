import DatagramPort
import Glibc
import RTSP
import Transport

/// One TCP connection, through TLS where the address asks for it. It never blocks once it is open.
final class StreamSocket {
    private let socket: CameraSocket
    private let tls: TLSClient?

    init(socket: consuming CameraSocket, tls: TLSClient?) {
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

    func send(_ bytes: UnsafeRawBufferPointer) -> CameraSocket.Outcome {
        if let tls { return tls.send(descriptor, bytes) }
        return TCPSocket.send(bytes, to: descriptor)
    }

    /// Sets how many bytes have to wait before the connection becomes readable.
    func setLowWaterMark(_ count: Int32) { socket.setLowWaterMark(count) }

    /// Writes the bytes that wait in TLS.
    func flush() -> CameraSocket.Outcome { tls?.flush(descriptor) ?? .wouldBlock }
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
    let address: TransportAddress
    /// Whether the camera has opened a tunnel after a login by Digest.
    let hasTakenDigest: Bool

    init(
        inbound: StreamSocket, outbound: StreamSocket?, early: [UInt8], address: TransportAddress,
        hasTakenDigest: Bool = false
    ) {
        self.hasTakenDigest = hasTakenDigest
        self.inbound = inbound
        self.outbound = outbound
        self.early = early
        self.address = address
    }

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

/// Drives one RTSP session over one connection to a camera: moves the bytes between the connection and the client,
/// waits for both and for the owner, and ends the session politely.
///
/// A source and a talk each have one, each on its own thread. What the client's events mean is up to them.
struct RTSPDriver: ~Copyable {
    /// How the connection was lost.
    enum Loss: Equatable, CustomStringConvertible {
        /// The camera closed it.
        case closed
        /// It broke, with one of the system's error numbers.
        case broken(Int32)

        var description: String { failure.words }

        /// The same as a failure of the camera.
        var failure: CameraFailure {
            switch self {
            case .closed: .connectionClosed
            case .broken(let number): .connectionBroken(errorNumber: number)
            }
        }
    }

    /// What a read has brought.
    enum Input {
        /// This many bytes, whose events wait in the client.
        case bytes(Int)
        case nothing
        case lost(Loss)
    }

    /// How long the camera may take to answer TEARDOWN.
    private static let patience: Duration = .milliseconds(500)

    var client: RTSPClient
    private let connection: CameraConnection

    /// Begins the session: the first request waits to be written.
    init(
        _ url: RTSPURL, over connection: CameraConnection, configuration: RTSPClient.Configuration, random: RandomSource
    ) {
        self.connection = connection
        client = RTSPClient(url: url, configuration: configuration, random: random)
        client.start(at: MonotonicClock.now)
    }

    /// The camera's address.
    var address: TransportAddress { connection.address }

    /// Bytes that wait here or that the camera's end has not acknowledged.
    var waitingOutput: Int { client.waitingOutput + connection.unacknowledgedBytes }

    // MARK: Bytes

    /// Writes what waits, as much of it as the connection accepts.
    mutating func writeOutput() -> Loss? {
        // This is copied out, so that the client can write while the connection is used.
        let connection = connection
        var outcome = connection.flush()
        while client.hasOutput, !connection.hasPendingOutput {
            client.write { bytes in
                outcome = connection.send(bytes)
                if case .bytes(let count) = outcome { return count }
                return 0
            }
            guard case .bytes = outcome else { break }
        }
        switch outcome {
        case .bytes, .wouldBlock: return nil
        case .closed: return .closed
        case .failed(let number): return .broken(number)
        }
    }

    /// Reads once what has come.
    mutating func readInput() -> Input {
        let connection = connection
        var outcome = CameraSocket.Outcome.wouldBlock
        client.receive { buffer in
            outcome = connection.receive(buffer)
            if case .bytes(let count) = outcome { return count }
            return 0
        }
        switch outcome {
        case .bytes(let count): return .bytes(count)
        case .wouldBlock: return .nothing
        case .closed: return .lost(.closed)
        case .failed(let number): return .lost(.broken(number))
        }
    }

    // MARK: Waiting

    /// Sets how many bytes have to wait before ``wait(until:or:orInputOf:)`` returns for them.
    func setLowWaterMark(_ count: Int32) { connection.setLowWaterMark(count) }

    /// Waits until the camera has sent something, on the connection or to one of `pairs`; until the connection accepts
    /// what waits; until `owner` has a request; or until `deadline`. Returns whether `owner` has a request.
    func wait(until deadline: Instant, or owner: SourceControl?, orInputOf pairs: [DatagramPair] = []) -> Bool {
        let timeout = pollTimeout(deadline - MonotonicClock.now)
        return withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 3 + 2 * pairs.count) { waiting in
            // A negative descriptor is ignored.
            waiting[0] = pollfd(fd: owner?.wakeUp ?? -1, events: Int16(POLLIN), revents: 0)
            var count = 1
            connection.watch(hasOutput: client.hasOutput) { entry in
                waiting[count] = entry
                count += 1
            }
            for pair in pairs {
                for descriptor in [pair.mediaSocket, pair.controlSocket] {
                    waiting[count] = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                    count += 1
                }
            }
            return poll(waiting.baseAddress, nfds_t(count), timeout) > 0 && waiting[0].revents != 0
        }
    }

    // MARK: Ending

    /// Ends the session, so that its place at the camera is free at once. Returns when the camera has answered, or has
    /// taken too long.
    mutating func tearDown() {
        client.tearDown(at: MonotonicClock.now)
        let deadline = MonotonicClock.now + Self.patience
        while MonotonicClock.now < deadline {
            if writeOutput() != nil { return }
            _ = wait(until: deadline, or: nil)
            if case .lost = readInput() { return }
            do throws(RTSPError) {
                while let event = try client.pollEvent(at: MonotonicClock.now) {
                    if event == .tornDown { return }
                }
            } catch {
                return
            }
        }
    }
}
