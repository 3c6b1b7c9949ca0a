import DatagramPort
import Transport

/// Where the shard sends: one run of datagrams at a time, handed to the socket in one system call.
struct MediaSender {
    /// The run being built.
    var run: SegmentRun
    private let port: any DatagramSending
    /// Takes what goes through a TURN server.
    private let relayed: RelayedQueue
    /// Takes what goes over TCP connections.
    private let connected: RelayedQueue
    /// How many datagrams and system calls there were, and how many datagrams the kernel refused.
    private(set) var datagrams: UInt64 = 0
    private(set) var calls: UInt64 = 0
    private(set) var refused: UInt64 = 0

    init(
        port: any DatagramSending, relayed: RelayedQueue, connected: RelayedQueue = RelayedQueue(),
        memory: UnsafeMutableRawBufferPointer
    ) {
        self.port = port
        self.relayed = relayed
        self.connected = connected
        self.run = SegmentRun(memory: memory)
    }

    /// Sends the run and starts an empty one. Returns false if the socket, or the connection that leads to the destination,
    /// accepts nothing now. Any other failure is counted and the run dropped, because one bad destination must not hold up
    /// the others.
    @inline(__always)
    mutating func flush(to destination: TransportAddress, from local: TransportAddress?) -> Bool {
        guard run.segments > 0 else { return true }
        let transmit = Transmit(
            destination: destination, byteCount: run.byteCount, segmentSize: run.segmentSize)
        let count = UInt64(run.segments)
        let outcome =
            destination.route == .direct
            ? port.send(run.bytes, transmit: transmit, from: local)
            : queue(to: destination).send(run.bytes, transmit: transmit, as: .media)
        run.removeAll()
        calls += 1
        switch outcome {
        case .sent: datagrams += count
        case .blocked: return false
        case .dropped, .refused: refused += count
        }
        return true
    }

    /// Sends one datagram of the connection itself (STUN, DTLS, RTCP).
    mutating func send(_ bytes: UnsafeRawBufferPointer, _ transmit: Transmit, from local: TransportAddress?) {
        calls += 1
        let outcome =
            transmit.destination.route == .direct
            ? port.send(bytes, transmit: transmit, from: local)
            : queue(to: transmit.destination).send(bytes, transmit: transmit, as: .control)
        switch outcome {
        case .sent: datagrams += 1
        case .dropped, .refused, .blocked: refused += 1
        }
    }

    /// The queue of the thread that knows the way to a destination beyond the socket.
    private func queue(to destination: TransportAddress) -> RelayedQueue {
        destination.route == .tcp ? connected : relayed
    }
}

/// A run of datagrams to one destination that one system call can send: all of the same size, except the last, which
/// may be shorter (UDP generic segmentation offload).
///
/// The memory belongs to the shard, which uses it for one viewer after the other.
struct SegmentRun {
    /// The kernel's limit on segments (`UDP_MAX_SEGMENTS`).
    static let maximumSegments = 64
    /// The largest UDP payload.
    static let maximumBytes = 65_507

    private let memory: UnsafeMutableRawBufferPointer
    /// How many bytes have been written.
    private(set) var byteCount = 0
    /// The size of every segment except the last.
    private(set) var segmentSize = 0
    /// How many segments have been written.
    private(set) var segments = 0
    private var closed = false

    /// Uses `memory`, which must hold at least ``maximumBytes`` and outlive the run.
    init(memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
    }

    /// Whether a datagram of `size` bytes can be added.
    @inline(__always)
    func accepts(_ size: Int) -> Bool {
        if segments == 0 { return size <= memory.count }
        return !closed && size <= segmentSize && segments < Self.maximumSegments
            && byteCount + size <= Self.maximumBytes
    }

    /// Where to write the next datagram.
    @inline(__always)
    var free: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: memory[byteCount...])
    }

    /// Records that a datagram of `size` bytes has been written at ``free``.
    @inline(__always)
    mutating func add(_ size: Int) {
        if segments == 0 { segmentSize = size }
        if size < segmentSize { closed = true }
        segments += 1
        byteCount += size
    }

    /// What has been written.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<byteCount]) }

    /// Starts again with an empty run.
    @inline(__always)
    mutating func removeAll() {
        byteCount = 0
        segmentSize = 0
        segments = 0
        closed = false
    }
}
