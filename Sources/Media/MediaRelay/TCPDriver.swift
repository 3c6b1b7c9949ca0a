import DatagramPort
import ICE
import Transport

/// The thread that has the viewers' TCP connections (RFC 6544), for viewers whose network lets no UDP through.
///
///     shards ─▶ RelayedQueue ─▶ this thread ─▶ connections ─▶ viewers
///     shard 0 ◀─ HandOverQueue ◀─ this thread ◀─ connections ◀─ viewers
///
/// What comes enters the first shard as if its socket had received it. A viewer's address with the route TCP names its
/// connection, so a session knows of no connections.
final class TCPDriver: ShardHandler {
    /// Begins to watch a listener's descriptor.
    typealias WatchListener = (
        _ context: ShardContext, _ descriptor: Int32, _ handler: @escaping (ShardContext.Readiness) -> Void
    ) throws(SystemCallError) -> ShardContext.Watch

    /// How often overdue connections are looked for.
    static let sweepInterval = Duration.seconds(1)

    let context: ShardContext
    let address: ShardAddress<TCPDriver>
    let listeners: [TCPListener]
    let links: ShardLinks
    let ledger: ConnectionLedger
    let limits: TCPLimits
    let watchListener: WatchListener
    let report: @Sendable (SystemCallError?) -> Void
    var connections: [TransportAddress: TCPConnection] = [:]
    private var touched: [TCPConnection] = []
    private var progress: [RelayedQueue.Progress] = []
    /// The watches of ``listeners``, by their positions.
    var listenerWatches: [Int: ShardContext.Watch] = [:]
    var listensAgain: Instant?
    var lastListenFailure: SystemCallError?
    var sweepDue: Instant?
    var nextNumber: UInt64 = 1
    var counters = TCPCounters()
    private var batch = RelayedQueue.Batch()
    private var arrived = HandOver()

    /// - Parameters:
    ///   - report: gets why an address cannot be listened at, and nil when all of them are again.
    ///   - watchListener: how a listener is watched. A test lets it fail.
    init(
        context: ShardContext, address: ShardAddress<TCPDriver>, listeners: [TCPListener], links: ShardLinks,
        ledger: ConnectionLedger, limits: TCPLimits, report: @escaping @Sendable (SystemCallError?) -> Void = { _ in },
        watchListener: @escaping WatchListener = { context, descriptor, handler throws(SystemCallError) in
            try context.watch(descriptor, for: .readable, handler: handler)
        }
    ) {
        self.context = context
        self.address = address
        self.listeners = listeners
        self.links = links
        self.ledger = ledger
        self.limits = limits
        self.report = report
        self.watchListener = watchListener
        listen(at: context.now)
    }

    /// The counts so far.
    func readCounters() -> TCPCounters {
        var result = counters
        result.connections = connections.count
        for connection in connections.values { result.packetsDropped += connection.drops }
        return result
    }

    func handleDatagrams(_ datagrams: DatagramBatch, at now: Instant) {}

    func handleWake(at now: Instant) {
        links.connected.take(into: &batch)
        batch.drain { packet, peer in
            // A session may send for a while to a connection that has gone. It is lost, as on any network.
            guard let connection = connections[peer.by(.tcp)] else { return }
            if packet.isEmpty {
                connection.isUnwanted = true
            } else {
                guard connection.isKnown || admit(connection) else { return }
                connection.send(packet, at: now)
            }
            guard !connection.isTouched else { return }
            connection.isTouched = true
            touched.append(connection)
        }
        for connection in touched {
            connection.isTouched = false
            flush(connection, at: now)
            if connection.isUnwanted { end(connection) }
            progress.append(connection.takeProgress())
        }
        touched.removeAll(keepingCapacity: true)
        guard !progress.isEmpty else { return }
        links.connected.record(progress)
        progress.removeAll(keepingCapacity: true)
    }

    var nextDeadline: Instant? {
        guard let listensAgain else { return sweepDue }
        return min(listensAgain, sweepDue ?? listensAgain)
    }

    func handleDeadline(at now: Instant) {
        if let due = listensAgain, due <= now {
            listensAgain = nil
            listen(at: now)
        }
        guard let due = sweepDue, due <= now else { return }
        for connection in Array(connections.values) {
            if connection.isKnown {
                if now - connection.lastUse >= limits.silence { end(connection) }
            } else if now - connection.lastUse >= limits.strangerPatience {
                endStranger(connection)
            }
        }
        sweepDue = connections.isEmpty ? nil : now + Self.sweepInterval
    }

    func handleStop(at now: Instant) {
        handleWake(at: now)
        for connection in Array(connections.values) { end(connection) }
        stopListening()
    }

    /// Closes a connection to make room for one of another listener.
    func giveWay(_ number: UInt64) {
        guard let connection = connections.values.first(where: { $0.number == number }) else { return }
        counters.refused += 1
        end(connection)
    }

    // MARK: - Connections

    /// A session sends to a connection for the first time. False where its host has as many as it may.
    private func admit(_ connection: TCPConnection) -> Bool {
        let host = ConnectionLedger.host(of: connection.peer)
        let known = connections.values.count { $0.isKnown && ConnectionLedger.host(of: $0.peer) == host }
        // All viewers of one host share its part: the principal is known to the session only.
        guard known < limits.perHost,
            ledger.vouch(for: connection, principal: "media over TCP from \(connection.peer.host)")
        else {
            counters.refused += 1
            end(connection)
            return false
        }
        return true
    }

    func handle(_ readiness: ShardContext.Readiness, of connection: TCPConnection, at now: Instant) {
        if !readiness.isDisjoint(with: [.readable, .closed]) {
            let isOpen = connection.read(into: context.sendBuffer) { take($0, from: connection) }
            if !arrived.isEmpty { links.handOver(connected: &arrived) }
            guard isOpen else { return connection.isKnown ? end(connection) : endStranger(connection) }
        }
        guard connection.wantsToWrite else { return }
        flush(connection, at: now)
        if connections[connection.peer] === connection { links.connected.record([connection.takeProgress()]) }
    }

    /// Passes a packet on. False if nothing that follows is worth reading.
    private func take(_ packet: UnsafeRawBufferPointer, from connection: TCPConnection) -> Bool {
        if !connection.isKnown {
            // A session's shard knows whether the fragment is its own, and answers only then.
            guard connection.packetsReceived <= limits.strangerPackets,
                connection.packetsReceived > 1 || ICE.localUsernameFragment(inBindingRequest: packet) != nil
            else { return false }
        }
        guard !packet.isEmpty, links.accepts(packet) else { return true }
        arrived.append(
            packet,
            DatagramPath(
                source: connection.peer, local: connection.local, door: ShardLinks.relayedDoor, holder: nil),
            next: nil)
        return true
    }

    private func flush(_ connection: TCPConnection, at now: Instant) {
        guard connections[connection.peer] === connection else { return }
        guard connection.flush(at: now) else { return end(connection) }
        guard connection.wantsToWrite != connection.watchesWriting, let watch = connection.watch else { return }
        do throws(SystemCallError) {
            try context.modify(watch, for: connection.wantsToWrite ? [.readable, .writable] : .readable)
            connection.watchesWriting = connection.wantsToWrite
        } catch {
            end(connection)
        }
    }

    private func endStranger(_ connection: TCPConnection) {
        counters.strangersClosed += 1
        end(connection)
    }

    func end(_ connection: TCPConnection) {
        guard connections[connection.peer] === connection else { return }
        counters.packetsDropped += connection.drops
        if let watch = connection.watch { context.unwatch(watch) }
        ledger.leave(connection)
        connections[connection.peer] = nil
        links.connected.setLimit(nil, for: connection.peer)
    }
}
