import DatagramPort
import Signalling
import StreamFormats
import Transport

/// The server's thread: it accepts, serves and ends connections, and hands what they publish to the cameras.
final class RTMPServerShard: ShardHandler {
    let context: ShardContext
    let address: ShardAddress<RTMPServerShard>
    let limits: RTMPServerConfiguration
    let gate: PublishingGate
    let admission: PublisherAdmission
    let report: @Sendable (RTMPServerNews) -> Void
    let ledger: ConnectionLedger
    private let listeners: [TCPListener]
    private var listenerWatches: [ShardContext.Watch] = []
    private var random: RandomSource
    var connections: [UInt64: RTMPConnection] = [:]
    var signIns = RefusedSignIns()
    /// What has been reported of publishers that were admitted, and have failed or ended.
    var refusedPublishers = RefusedPublishers()
    /// What has been reported of clients that were not admitted. They must not keep a publisher's end from being reported.
    var refusedStrangers = RefusedPublishers()
    var counters = RTMPServerCounters()
    /// What one read of a connection has brought.
    var arrived: [StreamUnit] = []
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 64)
    private var nextConnection: UInt64 = 1
    private var acceptsAgain: Instant?
    private var refusedConnections: RefusedConnections

    /// How long nothing is accepted after the process has run out of descriptors.
    private static let acceptPause = Duration.milliseconds(50)
    /// Only answers are sent, which are short.
    private static let sendBufferBytes = 64 << 10

    init(
        context: ShardContext, address: ShardAddress<RTMPServerShard>, limits: RTMPServerConfiguration,
        gate: PublishingGate, admission: PublisherAdmission, listeners: [TCPListener], ledger: ConnectionLedger,
        random: RandomSource, report: @escaping @Sendable (RTMPServerNews) -> Void
    ) {
        self.context = context
        self.address = address
        self.limits = limits
        self.gate = gate
        self.admission = admission
        self.listeners = listeners
        refusedConnections = RefusedConnections(listeners: listeners.map(\.descriptor))
        self.ledger = ledger
        self.random = random
        self.report = report
        listen()
    }

    deinit { buffer.deallocate() }

    /// Random numbers for something that this thread makes.
    func makeRandom() -> RandomSource { RandomSource.derived(from: &random) }

    func readCounters() -> RTMPServerCounters {
        var result = counters
        result.connections = connections.count
        result.publishers = connections.values.count { $0.admitted != nil }
        return result
    }

    func handleDatagrams(_ datagrams: DatagramBatch, at now: Instant) {}

    // MARK: Accepting

    private func listen() {
        for listener in listeners {
            // Without a watch, nobody can connect to this address; the others still work.
            guard
                let watch = try? context.watch(
                    listener.descriptor, for: .readable,
                    handler: { [unowned self] _ in accept(from: listener, at: context.now) })
            else { continue }
            listenerWatches.append(watch)
        }
    }

    private func stopListening() {
        for watch in listenerWatches { context.unwatch(watch) }
        listenerWatches = []
    }

    private func accept(from listener: TCPListener, at now: Instant) {
        for _ in 0..<16 {
            switch listener.accept(
                patience: limits.stallTimeout, unsent: Self.sendBufferBytes, sendBuffer: Self.sendBufferBytes)
            {
            case .none: return
            case .failed: continue
            case .exhausted:
                ledger.shed(16)
                // The waiting connection would wake the thread again and again.
                stopListening()
                acceptsAgain = now + Self.acceptPause
                return
            case .connection(let socket, let peer, _): add(socket, from: peer, at: now)
            }
        }
    }

    private func add(_ socket: consuming TCPSocket, from peer: TransportAddress, at now: Instant) {
        guard makeRoom(for: peer, at: now) else { return recordRefusal(of: peer, at: now) }
        let id = nextConnection
        nextConnection += 1
        let connection = RTMPConnection(
            id: id, socket: socket, peer: peer, session: RTMPServerSession(random: makeRandom()), now: now)
        do throws(SystemCallError) {
            connection.watch = try context.watch(connection.socket.descriptor, for: .readable) {
                [unowned self] readiness in handle(readiness, of: id, at: context.now)
            }
        } catch {
            counters.connectionsRefused += 1
            return
        }
        let isEntered = ledger.enter(connection, from: peer) { [address] in
            address.post { handler, now in handler.giveWay(id, at: now) }
        }
        guard isEntered else {
            if let watch = connection.watch { context.unwatch(watch) }
            return recordRefusal(of: peer, at: now)
        }
        counters.connectionsAccepted += 1
        connections[id] = connection
    }

    /// Closes the oldest connection without a correct token if the server or the host has reached its limit. If all have
    /// one, it is the oldest that publishes nothing: somebody with a token must not take all places.
    private func makeRoom(for peer: TransportAddress, at now: Instant) -> Bool {
        let candidates = ConnectionLedger.yielding(
            to: peer, among: connections.values.filter { !$0.isVouchedFor },
            isFull: connections.count >= limits.maximumConnections, perHost: limits.maximumConnectionsPerHost,
            from: { $0.peer })
        guard let candidates else { return true }
        let yielding = candidates.isEmpty ? connections.values.filter { !$0.isPublishing } : candidates
        guard let oldest = yielding.min(by: { $0.id < $1.id }) else { return false }
        recordRefusal(of: oldest.peer, at: now)
        end(oldest, because: .gaveWay, at: now)
        return true
    }

    /// Ends a connection to make room for one of another listener.
    func giveWay(_ id: UInt64, at now: Instant) {
        guard let connection = connections[id] else { return }
        recordRefusal(of: connection.peer, at: now)
        end(connection, because: .gaveWay, at: now)
    }

    /// Records that a connection was refused, or gave way to a newer one.
    private func recordRefusal(of peer: TransportAddress, at now: Instant) {
        counters.connectionsRefused += 1
        guard refusedConnections.record(peer, at: now) else { return }
        report(.refusedConnection(host: peer.host, total: counters.connectionsRefused))
    }

    // MARK: Time

    var nextDeadline: Instant? {
        var deadline = min(acceptsAgain ?? .distantFuture, refusedConnections.nextDeadline ?? .distantFuture)
        for connection in connections.values { deadline = min(deadline, connection.nextDeadline(limits)) }
        return deadline == .distantFuture ? nil : deadline
    }

    func handleDeadline(at now: Instant) {
        if let again = acceptsAgain, again <= now {
            acceptsAgain = nil
            listen()
        }
        refusedConnections.expire(at: now)
        for connection in Array(connections.values) where connection.nextDeadline(limits) <= now {
            handleDeadline(of: connection, at: now)
        }
    }

    func handleStop(at now: Instant) {
        stopListening()
        for connection in Array(connections.values) {
            connection.session.refuse(.failed, saying: RTMPPublisherEnd.shuttingDown.words)
            // What the socket does not take at once is lost.
            _ = connection.flush(at: now)
            end(connection, because: .shuttingDown, at: now)
        }
    }
}
