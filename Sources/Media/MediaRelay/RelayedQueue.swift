import DatagramPort
import Synchronization
import Transport

/// Datagrams on their way from the shards to the thread that speaks with a TURN server, or to the one that has the viewers'
/// TCP connections. They are copied into memory that is used again.
///
/// The queue is bounded in bytes. It also knows how much waits for each connection beyond it, so that a shard keeps media
/// back for a slow one (``setLimit(_:for:)``). Media that is kept back stays whole: the viewer's egress leaves out frames.
final class RelayedQueue: Sendable {
    /// What a datagram carries.
    enum Load: BitwiseCopyable {
        /// Media, which can wait.
        case media
        /// What keeps the session alive: connectivity checks, DTLS, reports.
        case control
    }

    fileprivate struct Entry: BitwiseCopyable {
        var offset: Int
        /// Zero for the wish to close the connection.
        var count: Int
        var peer: TransportAddress
    }

    struct Batch {
        fileprivate var bytes: [UInt8] = []
        fileprivate var entries: [Entry] = []

        /// Passes each datagram to `body` and forgets all of them. An empty one is the wish to close its connection.
        mutating func drain(_ body: (UnsafeRawBufferPointer, TransportAddress) -> Void) {
            bytes.withUnsafeBytes { memory in
                for entry in entries {
                    body(
                        UnsafeRawBufferPointer(rebasing: memory[entry.offset..<entry.offset + entry.count]), entry.peer)
                }
            }
            bytes.removeAll(keepingCapacity: true)
            entries.removeAll(keepingCapacity: true)
        }
    }

    /// What the thread has done with what was sent to one connection.
    struct Progress: BitwiseCopyable {
        var peer: TransportAddress
        /// Bytes of datagrams that the thread has taken from this queue since the last report.
        var taken: Int
        /// Bytes that the connection has not accepted yet.
        var waiting: Int
        /// From how many bytes on media has to wait.
        var limit: Int
    }

    /// What waits for a connection, here and beyond.
    private struct Connection {
        var queued = 0
        var waiting = 0
        var limit: Int

        /// Whether there is room for a run of media of so many bytes. Sound comes in small packets, and must not be
        /// interrupted because pictures fill the connection.
        func accepts(_ byteCount: Int) -> Bool {
            queued + waiting < (byteCount <= RelayedQueue.smallRun ? limit + RelayedQueue.reserveForSmallRuns : limit)
        }
    }

    private struct State {
        var batch = Batch()
        var connections: [TransportAddress: Connection] = [:]
        /// Wakes the thread; nil while there is none.
        var wake: (@Sendable () -> Void)?
    }

    /// The size of a packet of sound, at the most.
    private static let smallRun = 512
    /// A second of G.711.
    static let reserveForSmallRuns = 8 << 10
    /// Half a second of 32 Mbit/s.
    private static let maximumBytes = 2 << 20

    /// Whether one connection carries what goes to all peers.
    private let hasOneConnection: Bool
    private let state = Locked(State())
    private let hasReader = Atomic(false)

    /// - Parameter hasOneConnection: whether one connection carries what goes to all peers, as that to a TURN server does.
    init(hasOneConnection: Bool = false) {
        self.hasOneConnection = hasOneConnection
    }

    /// Whether anything can come and go by this way.
    var isInUse: Bool { hasReader.load(ordering: .relaxed) }

    /// Lets `wake` be called when something waits; nil when nobody takes it any more.
    func setReader(_ wake: (@Sendable () -> Void)?) {
        hasReader.store(wake != nil, ordering: .relaxed)
        state.withLock { state in
            state.wake = wake
            state.batch = Batch()
            state.connections = [:]
        }
    }

    /// Takes the datagrams that `transmit` describes.
    /// - Returns: `.blocked` where media has to wait for its connection, or the queue is full.
    func send(_ bytes: UnsafeRawBufferPointer, transmit: Transmit, as load: Load) -> SendOutcome {
        let wake: (@Sendable () -> Void)?
        let outcome: SendOutcome
        (wake, outcome) = state.withLock { state in
            guard let wake = state.wake, transmit.segmentSize > 0 else { return (nil, .refused) }
            guard state.batch.bytes.count + transmit.byteCount <= Self.maximumBytes else { return (nil, .blocked) }
            let key = key(of: transmit.destination)
            if let index = state.connections.index(forKey: key) {
                if load == .media, !state.connections.values[index].accepts(transmit.byteCount) {
                    return (nil, .blocked)
                }
                state.connections.values[index].queued += transmit.byteCount
            }
            let isFirst = state.batch.entries.isEmpty
            var offset = 0
            while offset < transmit.byteCount {
                let count = min(transmit.segmentSize, transmit.byteCount - offset)
                state.batch.entries.append(
                    Entry(offset: state.batch.bytes.count, count: count, peer: transmit.destination.by(.direct)))
                state.batch.bytes.append(contentsOf: bytes[offset..<offset + count])
                offset += count
            }
            return (isFirst ? wake : nil, .sent)
        }
        wake?()
        return outcome
    }

    /// Asks for the end of a connection, after what has been sent to it.
    func close(_ peer: TransportAddress) {
        let wake: (@Sendable () -> Void)? = state.withLock { state in
            guard let wake = state.wake else { return nil }
            let isFirst = state.batch.entries.isEmpty
            state.batch.entries.append(Entry(offset: state.batch.bytes.count, count: 0, peer: peer.by(.direct)))
            return isFirst ? wake : nil
        }
        wake?()
    }

    /// Exchanges what waits with `batch`, which should be empty.
    func take(into batch: inout Batch) {
        state.withLock { state in swap(&state.batch, &batch) }
    }

    // MARK: - Connections

    /// Keeps media back from a connection while this many bytes or more wait for it; nil when the connection has gone.
    /// Media for a peer without a limit is only bounded by the queue.
    func setLimit(_ limit: Int?, for peer: TransportAddress) {
        state.withLock { state in
            state.connections[key(of: peer)] = limit.map { Connection(limit: $0) }
        }
    }

    /// Takes what the thread reports of its connections.
    func record(_ progress: [Progress]) {
        state.withLock { state in
            for report in progress {
                guard let index = state.connections.index(forKey: key(of: report.peer)) else { continue }
                let queued = state.connections.values[index].queued - report.taken
                state.connections.values[index] = Connection(
                    queued: max(0, queued), waiting: report.waiting, limit: report.limit)
            }
        }
    }

    private func key(of peer: TransportAddress) -> TransportAddress {
        hasOneConnection ? TransportAddress(ipv4: 0, port: 0) : peer.by(.direct)
    }
}
