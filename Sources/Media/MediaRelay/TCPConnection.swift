import DatagramPort
import RTP
import Transport

/// A TCP connection of a viewer (RFC 6544), whose packets are framed (RFC 4571).
///
/// It is a stranger's until a session sends to it: a session sends only where an authenticated check came from.
final class TCPConnection {
    /// As long as any datagram that the media port takes.
    private static let longestPacket = 2048
    /// How often one turn reads: a flood must not hold up what goes out.
    private static let readsPerTurn = 4
    private static let roomForControl = 4096

    let number: UInt64
    /// The viewer's address, by the route TCP.
    let peer: TransportAddress
    /// The own address.
    let local: TransportAddress
    private let socket: TCPSocket
    private var opening = PseudoTLSOpening()
    private var reader = FramedStreamReader(longestFrame: longestPacket)
    private var queue: FramedStreamQueue
    private var backlog: ConnectionBacklog
    /// Bytes of datagrams that were taken for it and not reported yet (``takeProgress()``).
    private var unreported = 0
    var watch: ShardContext.Watch?
    var watchesWriting = false
    /// Whether it waits for the flush at the end of the turn.
    var isTouched = false
    /// Whether the session has asked for its end.
    var isUnwanted = false
    /// Whether a session has sent to it.
    private(set) var isKnown = false
    private(set) var packetsReceived = 0
    /// When it was accepted, or a session last sent to it.
    private(set) var lastUse: Instant

    init(
        number: UInt64, socket: consuming TCPSocket, peer: TransportAddress, local: TransportAddress, queueBytes: Int,
        now: Instant
    ) {
        self.number = number
        self.socket = socket
        self.peer = peer.by(.tcp)
        self.local = local.by(.tcp)
        queue = FramedStreamQueue(limit: queueBytes)
        // A run that was begun below the limit still fits, with its frames and some checks.
        backlog = ConnectionBacklog(
            most: max(0, queueBytes - SegmentRun.maximumBytes - RelayedQueue.reserveForSmallRuns - Self.roomForControl))
        lastUse = now
    }

    /// The descriptor to watch.
    var descriptor: Int32 { socket.descriptor }
    /// Whether the descriptor is to be watched for writing.
    var wantsToWrite: Bool { !queue.isEmpty }
    /// Packets that found no room.
    var drops: UInt64 { queue.drops }

    /// From how many waiting bytes on it gets no media.
    var mediaLimit: Int { backlog.limit }

    /// Queues a packet of a session.
    func send(_ packet: UnsafeRawBufferPointer, at now: Instant) {
        isKnown = true
        lastUse = now
        unreported += packet.count
        queue.append(packet)
    }

    /// Writes what waits. False when the connection has ended.
    func flush(at now: Instant) -> Bool {
        var isOpen = true
        var taken = 0
        queue.drain { bytes in
            switch socket.send(bytes) {
            case .bytes(let count):
                taken += count
                return count
            case .wouldBlock: return 0
            case .closed, .failed:
                isOpen = false
                return 0
            }
        }
        backlog.record(taken: taken, waiting: queue.byteCount, at: now)
        return isOpen
    }

    /// What has become of the packets since the last call.
    func takeProgress() -> RelayedQueue.Progress {
        defer { unreported = 0 }
        return RelayedQueue.Progress(
            peer: peer, taken: unreported, waiting: queue.byteCount, limit: backlog.limit)
    }

    /// Reads what has arrived, and passes each packet to `body` until it answers false. False when the connection has ended
    /// or has sent something other than a packet.
    func read(into buffer: UnsafeMutableRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        for _ in 0..<Self.readsPerTurn {
            switch socket.receive(into: buffer) {
            case .wouldBlock: return true
            case .closed, .failed: return false
            case .bytes(let count):
                var isWanted = true
                let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
                guard let frames = opening.isOver ? bytes : takeOpening(bytes) else { return false }
                do throws(FramedStreamReader.FrameTooLong) {
                    try reader.read(frames) {
                        guard isWanted else { return }
                        packetsReceived &+= 1
                        isWanted = body($0)
                    }
                } catch {
                    return false
                }
                guard isWanted else { return false }
            }
        }
        return true
    }

    /// Takes the beginning of a connection. Returns what follows it; nil if it is neither a frame nor a hello.
    private func takeOpening(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        do throws(PseudoTLSOpening.NotAHello) {
            switch try opening.read(bytes) {
            case .frames: return bytes
            case .incomplete: return UnsafeRawBufferPointer(rebasing: bytes[bytes.endIndex...])
            case .hello(let byteCount):
                queue.append(unframed: PseudoTLSOpening.serverHello)
                return UnsafeRawBufferPointer(rebasing: bytes[byteCount...])
            }
        } catch {
            return nil
        }
    }
}
