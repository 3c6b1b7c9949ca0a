import DatagramPort
import Glibc
import TLS
import TURN
import Transport

/// A TCP connection to a TURN server, with TLS inside where it is asked for. It never blocks.
///
/// Messages leave whole.
final class TURNConnection {
    /// The most bytes that wait. Media waits in the cameras' rings long before (``ConnectionBacklog``).
    private static let maximumOutput = 256 << 10
    /// The most bytes that may wait when a run of media is begun, so that all of it finds room.
    static let mostWaitingMedia = maximumOutput - 2 * SegmentRun.maximumBytes
    /// How many bytes may wait beyond ``maximumOutput``: what TLS adds to messages, and its own answers.
    private static let roomForTLS = 64 << 10
    /// The kernel holds little that it has not sent: what waits there is delay that nothing takes back.
    private static let unsentBytes = 4 << 10
    private static let sendBufferBytes = 128 << 10
    /// How often one turn reads: a flood must not hold up what goes out.
    private static let readsPerTurn = 16
    /// How long the server may leave bytes unacknowledged.
    private static let patience = Duration.seconds(15)

    private let socket: TCPSocket
    private let tls: TLSClient?
    private var isConnected = false
    private var reader = TURNStreamReader()
    /// Bytes that are ready for the socket.
    private var output = StreamOutput()
    /// How many bytes the socket has taken so far.
    private(set) var bytesTaken = 0
    /// How many bytes wait for the socket.
    var bytesWaiting: Int { output.count }
    /// How many bytes of memory they take up.
    var bytesHeld: Int { output.footprint }

    /// Begins to connect.
    init(to server: TURNServer) throws(TURNFailure) {
        do throws(SystemCallError) {
            socket = try TCPSocket.connect(
                to: server.address, patience: Self.patience, unsent: Self.unsentBytes,
                sendBuffer: Self.sendBufferBytes)
        } catch {
            throw .unreachable(reason: String(cString: strerror(error.errorNumber)))
        }
        guard case .tls(let name, let authorities) = server.transport else {
            tls = nil
            return
        }
        do throws(TLSFailure) {
            tls = try TLSClient(serverName: name, authorities: authorities)
        } catch {
            throw .insecure(reason: error.description)
        }
    }

    /// The descriptor to watch.
    var descriptor: Int32 { socket.descriptor }
    /// Whether messages can be sent.
    var isOpen: Bool { isConnected && tls?.isEstablished ?? true }
    /// Whether the descriptor is to be watched for writing.
    var wantsToWrite: Bool { !isConnected || bytesWaiting > 0 }

    /// Sends a message with the next ``flush()``. If too many wait it is lost, as on any network.
    func send(_ message: UnsafeRawBufferPointer) throws(TURNFailure) {
        guard isOpen, bytesWaiting + message.count <= Self.maximumOutput else { return }
        guard let tls else {
            output.append(message)
            return
        }
        do throws(TLSFailure) {
            try tls.send(message)
        } catch {
            throw .insecure(reason: error.description)
        }
        try takeEncrypted(tls)
    }

    /// Handles a ready descriptor, and passes each message that has come to `body`.
    func advance(_ body: (UnsafeRawBufferPointer) -> Void) throws(TURNFailure) {
        if !isConnected {
            let error = socket.connectionError
            guard error == 0 else { throw .unreachable(reason: String(cString: strerror(error))) }
            isConnected = true
            if let tls { try takeEncrypted(tls) }
        }
        let failure: TURNFailure? = withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 16) { buffer in
            do throws(TURNFailure) {
                for _ in 0..<Self.readsPerTurn {
                    switch socket.receive(into: buffer) {
                    case .wouldBlock: return nil
                    case .closed, .failed: return .disconnected
                    case .bytes(let count):
                        try take(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]), body)
                    }
                }
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
        try flush()
    }

    /// Writes what waits.
    func flush() throws(TURNFailure) {
        guard isConnected else { return }
        while bytesWaiting > 0 {
            switch output.withBytes({ socket.send($0) }) {
            case .bytes(let count):
                output.remove(count)
                bytesTaken += count
            case .wouldBlock: return
            case .closed, .failed: throw .disconnected
            }
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) throws(TURNFailure) {
        guard let tls else { return try cut(bytes, body) }
        var malformed: TURNFailure?
        do throws(TLSFailure) {
            try tls.handle(bytes) { plain in
                guard malformed == nil else { return }
                do throws(TURNFailure) { try cut(plain, body) } catch { malformed = error }
            }
        } catch {
            throw .insecure(reason: error.description)
        }
        try takeEncrypted(tls)
        if let malformed { throw malformed }
        if tls.isClosed { throw .disconnected }
    }

    private func cut(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) throws(TURNFailure) {
        reader.append(bytes)
        do throws(TURNStreamReader.Malformed) {
            while try reader.next(body) {}
        } catch {
            throw .contradictory
        }
    }

    private func takeEncrypted(_ tls: TLSClient) throws(TURNFailure) {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { buffer in
            while let count = tls.pollTransmit(into: buffer) {
                output.append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
            }
        }
        // OpenSSL answers each request for new keys (RFC 8446, section 4.6.3) with as many bytes, however many come. So
        // a server that sends them without end and reads nothing would fill the memory.
        guard bytesWaiting <= Self.maximumOutput + Self.roomForTLS else { throw .contradictory }
    }
}
