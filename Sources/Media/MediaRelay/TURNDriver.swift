import DatagramPort
import TURN
import Transport

/// The thread that speaks with a TURN server, from a socket of its own.
///
///     shards ─▶ RelayedQueue ─▶ this thread ─▶ TURN server ─▶ peers
///     shard 0 ◀─ HandOverQueue ◀─ this thread ◀─ TURN server ◀─ peers
///
/// One allocation serves all sessions, as the media port does. What comes back enters the first shard as if its socket had
/// received it.
final class TURNDriver: ShardHandler {
    /// How long a TCP or TLS connection may take to open.
    private static let connectionPatience = Duration.seconds(10)

    private let context: ShardContext
    private let links: ShardLinks
    private var server: TURNServer?
    /// Nil until the connection is open, and after a failure.
    private var client: TURNClient?
    /// The connection to a server that is not reached over UDP.
    private var connection: TURNConnection?
    private var watch: ShardContext.Watch?
    private var watchesWriting = true
    private var backlog = ConnectionBacklog(most: TURNConnection.mostWaitingMedia)
    /// Bytes of datagrams that were taken from the queue and not reported yet.
    private var unreported = 0
    private var bytesTaken = 0
    /// When the connection has to be open; nil for one that is.
    private var openBy: Instant?
    private var state: TURNState?
    /// Where the server relays, as far as the shards know.
    private var reported: [TransportAddress] = []
    private var changed: @Sendable (TURNState?) -> Void = { _ in }
    private var batch = RelayedQueue.Batch()
    private var arrived = HandOver()

    init(context: ShardContext, links: ShardLinks) {
        self.context = context
        self.links = links
    }

    /// Changes the server; nil for none. `changed` gets each change of what is known of it.
    func use(_ server: TURNServer?, changed: @escaping @Sendable (TURNState?) -> Void, at now: Instant) {
        end(at: now)
        self.server = server
        self.changed = changed
        state = server.map { TURNState(server: $0.address, transport: $0.transport) }
        changed(state)
        guard let server else { return }
        if server.transport == .udp {
            begin(server, at: now)
        } else {
            connect(to: server, at: now)
        }
    }

    var nextDeadline: Instant? {
        guard let openBy else { return client?.nextDeadline }
        return openBy
    }

    func handleDatagrams(_ datagrams: DatagramBatch, at now: Instant) {
        guard let server, server.transport == .udp, client != nil else { return }
        for datagram in datagrams where datagram.source == server.address {
            handle(UnsafeRawBufferPointer(datagram.bytes), at: now)
        }
        finishTurn(at: now)
    }

    func handleWake(at now: Instant) {
        links.relayed.take(into: &batch)
        // Without a client what waits is lost: nobody relays it.
        let buffer = context.sendBuffer
        batch.drain { datagram, peer in
            unreported += datagram.count
            guard let count = client?.send(datagram, to: peer, into: buffer, at: now), count > 0 else { return }
            send(count)
        }
        finishTurn(at: now)
    }

    func handleDeadline(at now: Instant) {
        if openBy != nil {
            // What is asked for is the time: a connection that opens stops being watched for it.
            if let openBy, openBy <= now { fail(.noAnswer) }
            return
        }
        client?.handleDeadline(at: now)
        finishTurn(at: now)
    }

    func handleStop(at now: Instant) { end(at: now) }

    // MARK: - The server's side

    private func begin(_ server: TURNServer, at now: Instant) {
        var configuration = TURNConfiguration(username: server.username, password: server.password)
        configuration.isStream = server.transport != .udp
        if configuration.isStream {
            backlog = ConnectionBacklog(most: TURNConnection.mostWaitingMedia)
            (unreported, bytesTaken) = (0, connection?.bytesTaken ?? 0)
            links.relayed.setLimit(backlog.limit, for: server.address)
        }
        client = TURNClient(configuration: configuration, random: .system, now: now)
        finishTurn(at: now)
    }

    private func connect(to server: TURNServer, at now: Instant) {
        do throws(TURNFailure) {
            let connection = try TURNConnection(to: server)
            self.connection = connection
            watchesWriting = true
            openBy = now + Self.connectionPatience
            do throws(SystemCallError) {
                watch = try context.watch(connection.descriptor, for: [.readable, .writable]) { [weak self] _ in
                    self?.handleConnection()
                }
            } catch {
                throw TURNFailure.unreachable(reason: "\(error)")
            }
        } catch {
            fail(error)
        }
    }

    private func handleConnection() {
        guard let connection, let server else { return }
        let now = context.now
        do throws(TURNFailure) {
            try connection.advance { handle($0, at: now) }
        } catch {
            return fail(error)
        }
        if openBy != nil, connection.isOpen {
            openBy = nil
            begin(server, at: now)
        } else {
            finishTurn(at: now)
        }
    }

    /// Handles a datagram or a message from the server.
    private func handle(_ message: UnsafeRawBufferPointer, at now: Instant) {
        let received = client?.handle(message, at: now)
        // The next message may already be here.
        if client?.isDrained == false { drainClient(at: now) }
        guard case .data(let peer, let range)? = received,
            let relayed = client?.relayedAddresses.first(where: { $0.family == peer.family })
        else { return }
        let datagram = UnsafeRawBufferPointer(rebasing: message[range])
        guard links.accepts(datagram) else { return }
        arrived.append(
            datagram,
            DatagramPath(source: peer.by(.relayed), local: relayed, door: ShardLinks.relayedDoor, holder: nil),
            next: nil)
    }

    /// Sends the first bytes of the send buffer.
    private func send(_ count: Int) {
        let message = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(context.sendBuffer)[..<count])
        guard let connection else {
            guard let server else { return }
            context.port.send(message, transmit: Transmit(destination: server.address, byteCount: count), from: nil)
            return
        }
        do throws(TURNFailure) { try connection.send(message) } catch { fail(error) }
    }

    /// Hands over what has come, sends what the client has to say, and reports what has happened to it.
    private func finishTurn(at now: Instant) {
        if !arrived.isEmpty { links.handOver(relayed: &arrived) }
        drainClient(at: now)
        flush()
    }

    private func drainClient(at now: Instant) {
        while let count = client?.pollTransmit(into: context.sendBuffer, at: now) { send(count) }
        while let event = client?.pollEvent() {
            switch event {
            case .allocated: reportAllocation()
            case .failed(let failure): fail(failure)
            }
        }
        if let isSilent = client?.isSilent, isSilent != state?.isSilent { reportAllocation() }
    }

    /// Lets the sessions use the allocation while the server answers.
    private func reportToShards() {
        let addresses = client?.offeredAddresses ?? []
        guard addresses != reported else { return }
        reported = addresses
        links.postToAll { shard, now in shard.setRelayedAddresses(addresses, at: now) }
    }

    private func reportAllocation() {
        // The shards come first: a session whose answer names the old addresses then finds the current ones there.
        reportToShards()
        guard let relayed = client?.relayedAddresses, let isSilent = client?.isSilent else { return }
        state?.record(allocated: relayed, isSilent: isSilent)
        changed(state)
    }

    private func flush() {
        guard let connection else { return }
        do throws(TURNFailure) { try connection.flush() } catch { return fail(error) }
        reportProgress(of: connection)
        guard connection.wantsToWrite != watchesWriting, let watch else { return }
        do throws(SystemCallError) {
            try context.modify(watch, for: connection.wantsToWrite ? [.readable, .writable] : .readable)
            watchesWriting = connection.wantsToWrite
        } catch {
            fail(.unreachable(reason: "\(error)"))
        }
    }

    /// Lets the shards know how much waits for the connection, so that they keep media back.
    private func reportProgress(of connection: TURNConnection) {
        guard let server, client != nil else { return }
        let waiting = connection.bytesWaiting
        backlog.record(taken: connection.bytesTaken - bytesTaken, waiting: waiting, at: context.now)
        bytesTaken = connection.bytesTaken
        links.relayed.record([
            RelayedQueue.Progress(peer: server.address, taken: unreported, waiting: waiting, limit: backlog.limit)
        ])
        unreported = 0
    }

    private func fail(_ failure: TURNFailure) {
        forget()
        state?.record(failure)
        changed(state)
    }

    /// Gives the allocation back.
    private func end(at now: Instant) {
        client?.close(at: now)
        while let count = client?.pollTransmit(into: context.sendBuffer, at: now) { send(count) }
        flush()
        forget()
        server = nil
    }

    private func forget() {
        client = nil
        reportToShards()
        if let server { links.relayed.setLimit(nil, for: server.address) }
        openBy = nil
        if let watch { context.unwatch(watch) }
        watch = nil
        connection = nil
        arrived.removeAll()
    }
}
