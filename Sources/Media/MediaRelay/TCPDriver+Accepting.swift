import DatagramPort
import Transport

extension TCPDriver {
    /// How long nothing is accepted after the process has run out of descriptors.
    private static let acceptPause = Duration.milliseconds(50)
    /// How long it takes until an address that could not be listened at is tried again.
    private static let listenPause = Duration.seconds(1)
    private static let acceptsPerTurn = 16
    /// The kernel holds little that it has not sent: what waits there is delay that nothing takes back.
    private static let unsentBytes = 4 << 10
    /// What is on the way, and what is not sent yet: 20 Mbit/s at a round trip of 50 ms. A slow path fills it with delay.
    private static let sendBufferBytes = 128 << 10

    /// Listens at all addresses. One that fails is tried again later; the others work meanwhile.
    func listen(at now: Instant) {
        var failure: SystemCallError?
        for (index, listener) in listeners.enumerated() where listenerWatches[index] == nil {
            do throws(SystemCallError) {
                listenerWatches[index] = try watchListener(context, listener.descriptor) { [unowned self] _ in
                    accept(from: listener, at: context.now)
                }
            } catch {
                counters.listenFailures += 1
                failure = error
            }
        }
        if failure != nil { listensAgain = now + Self.listenPause }
        guard failure != lastListenFailure else { return }
        lastListenFailure = failure
        report(failure)
    }

    func stopListening() {
        for watch in listenerWatches.values { context.unwatch(watch) }
        listenerWatches = [:]
    }

    private func accept(from listener: TCPListener, at now: Instant) {
        for _ in 0..<Self.acceptsPerTurn {
            switch listener.accept(
                patience: limits.patience, unsent: Self.unsentBytes, sendBuffer: Self.sendBufferBytes)
            {
            case .none: return
            case .failed: continue
            case .exhausted:
                ledger.shed(Self.acceptsPerTurn)
                // The waiting connection would wake the thread again and again.
                stopListening()
                listensAgain = now + Self.acceptPause
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
        links.connected.setLimit(connection.mediaLimit, for: connection.peer)
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
}
