import Cameras
import DatagramPort
import MediaRelay
import RTP
import RTSP
import Signalling
import Transport

/// The server's thread: it accepts, serves and ends connections, and passes media on to them.
final class RTSPServerShard: ShardHandler {
    let context: ShardContext
    let limits: RTSPServerConfiguration
    let relay: MediaRelay
    let ports: DatagramPorts?
    /// What the taps of all readers hand over.
    let inbox: TapQueue
    let report: @Sendable (RTSPServerNews) -> Void
    private let listeners: [TCPListener]
    let ledger: ConnectionLedger
    private let giveWay: GiveWay
    /// Ends connections whose permit was revoked.
    let revoking: RevokedConnections
    /// Where recorded footage is.
    var footage: FootageSource?
    /// Brings footage from other threads.
    let arrivingFootage: ArrivingFootage
    /// Brings news of publishers from other threads.
    let publisherPost: PublisherPost
    var nextPublisher: UInt64 = 0
    var refusedPublishers = RefusedPublishers()
    /// The publisher's track whose RTP, or RTCP, comes from an address.
    var mediaSenders: [TransportAddress: (connection: UInt64, track: Int)] = [:]
    var controlSenders: [TransportAddress: (connection: UInt64, track: Int)] = [:]
    var nextFootageSearch: UInt64 = 1
    /// The searches for footage in progress, and whose they are. One continues when its connection has ended.
    var footageSearches: [UInt64: String] = [:]
    let clock: WallClockReading
    private let buffer: UnsafeMutableRawBufferPointer
    var random: RandomSource
    var cameras: [String: ServedCamera] = [:]
    /// The identifiers of the cameras, by their keys.
    var cameraIDs: [String: String] = [:]
    var connections: [UInt64: RTSPConnection] = [:]
    /// The reader's track that a tap feeds.
    var taps: [UInt64: (connection: RTSPConnection, track: Int)] = [:]
    /// The reader whose receiver reports come from an address.
    var reporters: [TransportAddress: UInt64] = [:]
    var signIns = RefusedSignIns()
    var counters = RTSPServerCounters()
    private var arrivals: [TapQueue.Entry] = []
    private var nextConnection: UInt64 = 1
    private var nextTap: UInt64 = 1
    var nextOrdinal: UInt64 = 0
    private var listenerWatches: [ShardContext.Watch] = []
    private var acceptsAgain: Instant?
    private var refusedConnections: RefusedConnections

    /// If more than this waits, the server's thread has stopped, and the relay must not fill the memory meanwhile. A
    /// reader that is so far behind has lost frames long before (``RTSPServerConfiguration/maximumLag``). The bytes are
    /// four full rings: readers begin with what their track's ring holds.
    static let inboxLimits = TapQueue.Limits(duration: .seconds(5), bytes: 64 << 20, overflow: .refuse)
    /// How often to check whether a camera's tracks are known.
    static let descriptionInterval = Duration.milliseconds(50)
    /// How long nothing is accepted after the process has run out of descriptors.
    private static let acceptPause = Duration.milliseconds(50)
    /// What the kernel has not sent yet is delay that nothing here can take back. So it holds little of it, and the server
    /// skips frames instead.
    private static let unsentBytes = 128 << 10

    init(
        context: ShardContext, limits: RTSPServerConfiguration, relay: MediaRelay, ports: DatagramPorts?,
        inbox: TapQueue, listeners: [TCPListener], ledger: ConnectionLedger, giveWay: GiveWay,
        revoking: RevokedConnections, arrivingFootage: ArrivingFootage, publisherPost: PublisherPost,
        clock: WallClockReading, random: RandomSource,
        report: @escaping @Sendable (RTSPServerNews) -> Void
    ) {
        self.context = context
        self.limits = limits
        self.relay = relay
        self.ports = ports
        self.inbox = inbox
        self.listeners = listeners
        refusedConnections = RefusedConnections(listeners: listeners.map(\.descriptor))
        self.ledger = ledger
        self.giveWay = giveWay
        self.revoking = revoking
        self.arrivingFootage = arrivingFootage
        self.publisherPost = publisherPost
        self.clock = clock
        self.random = random
        self.report = report
        buffer = .allocate(byteCount: 128 * 1024, alignment: 64)
        listen()
        watchMedia()
    }

    deinit {
        buffer.deallocate()
    }

    func sendingContext(at now: Instant) -> SendingContext {
        SendingContext(buffer: buffer, ports: ports, clock: clock, limits: limits, now: now)
    }

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

    private func accept(from listener: TCPListener, at now: Instant) {
        for _ in 0..<16 {
            // The deadlines of the connection decide when it has stopped reading: a publisher need not read at all.
            switch listener.accept(patience: nil, unsent: Self.unsentBytes, sendBuffer: nil) {
            case .none: return
            case .failed: continue
            case .exhausted:
                ledger.shed(16)
                // The waiting connection would wake the thread again and again.
                for watch in listenerWatches { context.unwatch(watch) }
                listenerWatches = []
                acceptsAgain = now + Self.acceptPause
                return
            case .connection(let socket, let peer, let local): add(socket, from: peer, to: local, at: now)
            }
        }
    }

    private func add(
        _ socket: consuming TCPSocket, from peer: TransportAddress, to local: TransportAddress, at now: Instant
    ) {
        guard makeRoom(for: peer, at: now) else { return recordRefusal(of: peer, at: now) }
        socket.enableKeepAlive()
        let id = nextConnection
        let session = RTSPServerSession(
            configuration: limits.session, random: RandomSource.derived(from: &random), now: now)
        let connection = RTSPConnection(
            id: id, socket: socket, peer: peer, local: local, session: session,
            canonicalName: "gatehouse-" + String(UInt32(truncatingIfNeeded: random.next()), radix: 16))
        do throws(SystemCallError) {
            connection.watch = try context.watch(connection.socket.descriptor, for: .readable) {
                [unowned self] readiness in handle(readiness, of: id, at: context.now)
            }
        } catch {
            counters.connectionsRefused += 1
            return
        }
        guard ledger.enter(connection, from: peer, close: { [giveWay] in giveWay.end(id) }) else {
            if let watch = connection.watch { context.unwatch(watch) }
            return recordRefusal(of: peer, at: now)
        }
        nextConnection += 1
        counters.connectionsAccepted += 1
        connections[id] = connection
    }

    /// Closes the oldest connection without a correct password if the server or the host has reached its limit. If all
    /// have signed in, it closes an idle one of a principal that holds many.
    private func makeRoom(for peer: TransportAddress, at now: Instant) -> Bool {
        let strangers = connections.values.filter { !$0.session.isAuthenticated }
        let candidates = ConnectionLedger.yielding(
            to: peer, among: strangers, isFull: connections.count >= limits.maximumConnections,
            perHost: limits.maximumConnectionsPerHost, from: { $0.peer })
        guard let candidates else { return true }
        let yielding = candidates.isEmpty ? tooManyIdle() : candidates
        guard let oldest = yielding.min(by: { $0.id < $1.id }) else { return false }
        recordRefusal(of: oldest.peer, at: now)
        end(oldest, because: .gaveWay, at: now)
        return true
    }

    /// The connections without media of the principal with the most of them, if those are too many: somebody who has
    /// signed in must not take all places.
    private func tooManyIdle() -> [RTSPConnection] {
        let idle = connections.values.filter { $0.session.state != .playing && $0.session.state != .recording }
        let most = Dictionary(grouping: idle) { $0.session.principal ?? "" }.values.max { $0.count < $1.count } ?? []
        return most.count > limits.maximumIdleConnections ? most : []
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

    // MARK: Media

    /// Reads what the taps have brought, and sends it.
    func handleInbox(at now: Instant) {
        _ = inbox.take(into: &arrivals)
        var cut: Set<TrackID> = []
        var touched: [UInt64: RTSPConnection] = [:]
        for entry in arrivals {
            guard let (connection, index) = taps[entry.tap.id], connection.tracks.indices.contains(index) else {
                continue
            }
            switch entry.event {
            case .begins: continue
            case .gap:
                cut.insert(connection.tracks[index].id)
                continue
            case .batch(let tapped):
                nextOrdinal += 1
                connection.tracks[index].append(tapped, ordinal: nextOrdinal, at: now)
            case .restarted:
                connection.tracks[index].restart(at: now)
            case .ended:
                end(connection, because: .trackGone, at: now)
                continue
            }
            touched[connection.id] = connection
        }
        arrivals.removeAll(keepingCapacity: true)
        // Once per track, however many readers it has.
        for track in cut { relay.requestKeyFrame(of: track) }
        for connection in touched.values where !connection.isEnded {
            boundQueues(of: connection, at: now)
            if connection.isEnded { continue }
            if connection.startDeadline != nil { answerPlay(connection, at: now) }
            service(connection, at: now)
        }
    }

    /// A reader that is too slow loses frames. One that loses more than any frame can have loses its connection.
    private func boundQueues(of connection: RTSPConnection, at now: Instant) {
        for index in connection.tracks.indices {
            let queue = connection.tracks[index].queue
            guard queue.byteCount > limits.maximumQueuedBytes || queue.lag(at: now) > limits.maximumLag else {
                continue
            }
            if connection.tracks[index].queue.leaveOut() { relay.requestKeyFrame(of: connection.tracks[index].id) }
            if connection.tracks[index].queue.byteCount > limits.maximumQueuedBytes * 2 {
                end(connection, because: .tooSlow, at: now)
                return
            }
        }
    }

    func makeTap(isVideo: Bool) -> QueueTap {
        defer { nextTap += 1 }
        return inbox.makeTap(id: nextTap, resumesAtKeyFrame: isVideo)
    }

    func handleDatagrams(_ datagrams: DatagramBatch, at now: Instant) {
        for datagram in datagrams {
            receiveControl(datagram, at: now)
            guard let id = reporters[datagram.source], let connection = connections[id] else { continue }
            connection.session.recordLife(at: now)
        }
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
        for connection in Array(connections.values) where !connection.isEnded {
            guard connection.nextDeadline(limits) <= now else { continue }
            answerDescription(connection, at: now)
            if connection.session.isExpired(at: now) {
                end(connection, because: .silent, at: now)
                continue
            }
            if let due = connection.readingDeadline(limits), due <= now {
                end(connection, because: .stoppedReading, at: now)
                continue
            }
            if let start = connection.startDeadline, start <= now { answerPlay(connection, at: now) }
            servicePublisher(connection, at: now)
            run(connection, at: now)
        }
    }

    func handleStop(at now: Instant) {
        for connection in Array(connections.values) {
            end(connection, because: .shuttingDown, at: now)
        }
        for watch in listenerWatches { context.unwatch(watch) }
    }
}
