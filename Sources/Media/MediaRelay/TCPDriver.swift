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
    /// How often overdue connections are looked for.
    private static let sweepInterval = Duration.seconds(1)
    /// How long nothing is accepted after the process has run out of descriptors.
    private static let acceptPause = Duration.milliseconds(50)
    private static let acceptsPerTurn = 16
    /// How long sent bytes may stay unacknowledged.
    private static let patience = Duration.seconds(15)
    /// The kernel holds little that it has not sent: what waits there is delay that nothing takes back.
    private static let unsentBytes = 128 << 10

    private let context: ShardContext
    private let address: ShardAddress<TCPDriver>
    private let listeners: [TCPListener]
    private let links: ShardLinks
    private let ledger: ConnectionLedger
    private let limits: TCPLimits
    private var connections: [TransportAddress: TCPConnection] = [:]
    private var touched: [TCPConnection] = []
    private var listenerWatches: [ShardContext.Watch] = []
    private var acceptsAgain: Instant?
    private var sweepDue: Instant?
    private var nextNumber: UInt64 = 1
    private var counters = TCPCounters()
    private var batch = RelayedQueue.Batch()
    private var arrived = HandOver()

    init(
        context: ShardContext, address: ShardAddress<TCPDriver>, listeners: [TCPListener], links: ShardLinks,
        ledger: ConnectionLedger, limits: TCPLimits
    ) {
        self.context = context
        self.address = address
        self.listeners = listeners
        self.links = links
        self.ledger = ledger
        self.limits = limits
        listen()
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
            if !connection.isKnown {
                // All viewers of one host share its part: the principal is known to the session only.
                ledger.vouch(for: connection, principal: "media over TCP from \(connection.peer.host)")
            }
            connection.send(packet, at: now)
            guard !connection.isTouched else { return }
            connection.isTouched = true
            touched.append(connection)
        }
        for connection in touched {
            connection.isTouched = false
            flush(connection)
        }
        touched.removeAll(keepingCapacity: true)
    }

    var nextDeadline: Instant? {
        guard let acceptsAgain else { return sweepDue }
        return min(acceptsAgain, sweepDue ?? acceptsAgain)
    }

    func handleDeadline(at now: Instant) {
        if let due = acceptsAgain, due <= now {
            acceptsAgain = nil
            listen()
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
        for watch in listenerWatches { context.unwatch(watch) }
        listenerWatches = []
    }

    /// Closes a connection to make room for one of another listener.
    func giveWay(_ number: UInt64) {
        guard let connection = connections.values.first(where: { $0.number == number }) else { return }
        counters.refused += 1
        end(connection)
    }

    // MARK: - Accepting

    private func listen() {
        for listener in listeners {
            // Without a watch nobody can connect to this address; the others still work.
            guard
                let watch = try? context.watch(
                    listener.descriptor, for: .readable,
                    handler: { [unowned self] _ in accept(from: listener, at: context.now) })
            else { continue }
            listenerWatches.append(watch)
        }
    }

    private func accept(from listener: TCPListener, at now: Instant) {
        for _ in 0..<Self.acceptsPerTurn {
            switch listener.accept(patience: Self.patience, unsent: Self.unsentBytes) {
            case .none: return
            case .failed: continue
            case .exhausted:
                ledger.shed(Self.acceptsPerTurn)
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
        // One host can have two connections from one port, to two addresses of this one. The address names the first.
        guard connections[peer.by(.tcp)] == nil, makeRoom(for: peer) else {
            counters.refused += 1
            return
        }
        let connection = TCPConnection(
            number: nextNumber, socket: socket, peer: peer, local: local, queueBytes: limits.queueBytes, now: now)
        let number = nextNumber
        nextNumber += 1
        guard
            ledger.enter(
                connection, from: peer, close: { [address] in address.post { driver, _ in driver.giveWay(number) } })
        else {
            counters.refused += 1
            return
        }
        do throws(SystemCallError) {
            connection.watch = try context.watch(connection.descriptor, for: .readable) {
                [unowned self, unowned connection] readiness in handle(readiness, of: connection, at: context.now)
            }
        } catch {
            counters.refused += 1
            return ledger.leave(connection)
        }
        connections[connection.peer] = connection
        counters.accepted += 1
        if sweepDue == nil { sweepDue = now + Self.sweepInterval }
    }

    /// Closes the oldest stranger if the host, or all hosts together, have as many as they may.
    private func makeRoom(for peer: TransportAddress) -> Bool {
        let strangers = connections.values.filter { !$0.isKnown }
        // The route is a part of an address.
        let host = ConnectionLedger.host(of: peer.by(.tcp))
        let ofHost = strangers.filter { ConnectionLedger.host(of: $0.peer) == host }
        let candidates: [TCPConnection]
        if ofHost.count >= limits.strangersPerHost {
            candidates = ofHost
        } else if strangers.count >= limits.strangers || connections.count >= limits.connections {
            candidates = strangers
        } else {
            return true
        }
        guard let oldest = candidates.min(by: { $0.number < $1.number }) else { return false }
        counters.refused += 1
        end(oldest)
        return true
    }

    // MARK: - Connections

    private func handle(_ readiness: ShardContext.Readiness, of connection: TCPConnection, at now: Instant) {
        if !readiness.isDisjoint(with: [.readable, .closed]) {
            let isOpen = connection.read(into: context.sendBuffer) { take($0, from: connection) }
            if !arrived.isEmpty { links.handOver(connected: &arrived) }
            guard isOpen else { return connection.isKnown ? end(connection) : endStranger(connection) }
        }
        flush(connection)
    }

    /// Passes a packet on. False if nothing that follows is worth reading.
    private func take(_ packet: UnsafeRawBufferPointer, from connection: TCPConnection) -> Bool {
        if !connection.isKnown {
            // A session's shard knows whether the fragment is its own, and answers only then.
            guard connection.packetsReceived <= limits.strangerPackets,
                connection.packetsReceived > 1 || ICE.localUsernameFragment(inBindingRequest: packet) != nil
            else { return false }
        }
        guard !packet.isEmpty else { return true }
        arrived.append(
            packet,
            DatagramPath(
                source: connection.peer, local: connection.local, door: ShardLinks.relayedDoor, holder: nil),
            next: nil)
        return true
    }

    private func flush(_ connection: TCPConnection) {
        guard connections[connection.peer] === connection else { return }
        guard connection.flush() else { return end(connection) }
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

    private func end(_ connection: TCPConnection) {
        guard connections[connection.peer] === connection else { return }
        counters.packetsDropped += connection.drops
        if let watch = connection.watch { context.unwatch(watch) }
        ledger.leave(connection)
        connections[connection.peer] = nil
    }
}
