import CUSRSCTP
import Glibc
import Transport

/// One SCTP port and its associations, over any transport that carries packets (RFC 8261): no socket of the system is used.
///
/// A *line* is the way to one peer: a DTLS association. Packets from a peer go in by ``handle(_:line:)``. After each call,
/// drain ``pollEvent()`` and ``takePackets(of:)`` of the lines.
///
/// The endpoint listens. It lets the peer begin the association, although both sides may (RFC 8841, section 9.3): a viewer
/// that opens no channel then costs nothing.
///
/// It may be used from any thread, but by one at a time: its calls wait for each other.
public final class SCTPEndpoint: Sendable {
    /// What bounds an endpoint's associations.
    public struct Limits: Sendable {
        /// How many streams each association has in each direction. A channel uses one of each, and either side opens its
        /// channels on every other one.
        public var streams: UInt16 = 32
        /// How many bytes each association may hold in each direction.
        public var bufferBytes = 32 * 1024
        /// The largest message, in bytes: `a=max-message-size` (RFC 8841, section 6.1).
        public var messageBytes = 16 * 1024
        /// The largest SCTP packet, in bytes. With a DTLS record around it, it fits a datagram of 1,200 bytes.
        public var packetBytes = 1160

        /// The defaults.
        public init() {}
    }

    /// The port that this project's session descriptions name.
    public static let usualPort: UInt16 = 5000

    /// What bounds the associations.
    public let limits: Limits
    /// The SCTP port.
    public let port: UInt16
    private let socket: Socket
    private let buffer: Locked<[UInt64]>

    /// Opens a port.
    /// - Throws: `portUnavailable` if the process has an endpoint on this port already.
    public init(port: UInt16 = SCTPEndpoint.usualPort, limits: Limits = Limits()) throws(SCTPError) {
        let opened = SCTPStack.run { () -> Result<Socket, SCTPError> in
            let pointer = gatehouse_sctp_open(
                port, limits.streams, UInt32(limits.bufferBytes), UInt32(limits.packetBytes))
            return pointer.map { .success(Socket(pointer: $0)) } ?? .failure(.portUnavailable(port, errno: errno))
        }
        socket = try opened.get()
        self.limits = limits
        self.port = port
        // A message that is one byte too long does not fit, so the library hands over a part of it.
        buffer = Locked([UInt64](repeating: 0, count: limits.messageBytes / 8))
    }

    deinit {
        let socket = socket
        SCTPStack.run { gatehouse_sctp_close(socket.pointer) }
    }

    // MARK: Lines

    /// Adds a line. Packets can go in and out by it.
    public func add(_ line: SCTPLine) {
        SCTPStack.open(line.number)
        SCTPStack.run { gatehouse_sctp_add_line(line.number) }
    }

    /// Removes a line. Abort its association first.
    public func remove(_ line: SCTPLine) {
        SCTPStack.run { gatehouse_sctp_remove_line(line.number) }
        SCTPStack.close(line.number)
    }

    /// Takes the packets that have to be sent on a line.
    public func takePackets(of line: SCTPLine) -> [[UInt8]] {
        SCTPStack.takePackets(of: line.number)
    }

    /// The lines with packets to send, those of other endpoints of the process included.
    public static var waitingLines: [SCTPLine] { SCTPStack.waitingLines.map(SCTPLine.init(number:)) }

    // MARK: Input

    /// Handles a packet that came by a line. One whose checksum or verification tag is wrong is ignored.
    public func handle(_ packet: UnsafeRawBufferPointer, line: SCTPLine) {
        guard packet.count >= Self.headerBytes, packet.count <= 65_535 else { return }
        SCTPStack.run { gatehouse_sctp_input(line.number, packet.baseAddress, packet.count) }
    }

    /// The size of SCTP's common header (RFC 9260, section 3.1).
    private static let headerBytes = 12

    /// Runs the timers that are due after `duration` more. All endpoints of the process share the timers.
    public static func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds &* 1000 &+ attoseconds / 1_000_000_000_000_000
        guard milliseconds > 0 else { return }
        SCTPStack.run { gatehouse_sctp_tick(UInt32(min(milliseconds, 60_000))) }
    }

    // MARK: Output

    /// Begins an association with the peer of a line.
    public func connect(_ line: SCTPLine, port: UInt16) throws(SCTPError) {
        let status = SCTPStack.run { gatehouse_sctp_connect(socket.pointer, line.number, port) }
        if status != 0 { throw .refused(errno: status) }
    }

    /// Sends a message.
    /// - Throws: `bufferFull` if the peer takes what it is sent too slowly, `refused` if the association has ended or has no
    ///   such stream.
    public func send(_ message: SCTPMessage, _ association: SCTPAssociation) throws(SCTPError) {
        var how = gatehouse_sctp_sending(
            stream: message.stream, protocol: message.protocolIdentifier, is_unordered: message.isOrdered ? 0 : 1,
            retransmissions: -1, lifetime: -1)
        switch message.reliability {
        case .reliable: break
        case .retransmissions(let limit): how.retransmissions = Int64(limit)
        case .milliseconds(let limit): how.lifetime = Int64(limit)
        }
        let status = SCTPStack.run {
            message.payload.withUnsafeBytes { bytes in
                gatehouse_sctp_send(socket.pointer, association.number, &how, bytes.baseAddress, bytes.count)
            }
        }
        if status == EAGAIN || status == ENOBUFS { throw .bufferFull }
        if status != 0 { throw .refused(errno: status) }
    }

    /// Resets a stream that this side sends on (RFC 6525): the channel is closed.
    /// - Throws: `resetPending` while an earlier one is under way; try again later.
    public func reset(stream: UInt16, _ association: SCTPAssociation) throws(SCTPError) {
        let status = SCTPStack.run { gatehouse_sctp_reset(socket.pointer, association.number, stream) }
        if status == EALREADY || status == EAGAIN { throw .resetPending }
        if status != 0 { throw .refused(errno: status) }
    }

    /// Ends an association at once. The peer is notified. No event follows.
    public func abort(_ association: SCTPAssociation) {
        // One that has ended already is what was wanted.
        _ = SCTPStack.run { gatehouse_sctp_abort(socket.pointer, association.number) }
    }

    // MARK: Events

    /// Takes the next event, oldest first.
    public func pollEvent() -> SCTPEvent? {
        let socket = socket
        return buffer.withLock { buffer in
            buffer.withUnsafeMutableBytes { memory -> SCTPEvent? in
                // Each turn takes an event, and the caller that hands packets in takes all of them each time.
                while true {
                    var event = gatehouse_sctp_event()
                    let address = UInt(bitPattern: memory.baseAddress)
                    let count = memory.count
                    let isThere = SCTPStack.run {
                        gatehouse_sctp_next(
                            socket.pointer, &event, UnsafeMutableRawPointer(bitPattern: address), count)
                    }
                    guard isThere != 0 else { return nil }
                    if let known = SCTPEvent(event, UnsafeRawBufferPointer(memory)) { return known }
                }
            }
        }
    }

    private struct Socket: @unchecked Sendable {
        // Proof for @unchecked: the pointer never changes. What it leads to is used under the stack's lock only.
        let pointer: UnsafeMutableRawPointer
    }
}
