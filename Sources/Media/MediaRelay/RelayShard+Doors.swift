import DatagramPort
import ICE
import PeerConnection
import Transport

/// A datagram finds its shard.
///
/// The kernel gives all datagrams of one remote address to the socket of one shard: the address's door. Each shard knows
/// which shard holds the addresses whose door it is, because the sessions' shards claim them there.
extension RelayShard {
    /// Where a datagram goes from its door.
    private enum Route {
        case here
        case to(Int)
        /// To the shard that holds the source, which has to agree, and then to another.
        case past(holder: Int, to: Int)
    }

    func handleDatagrams(_ datagrams: DatagramBatch, at now: Instant) {
        mayReadLater = true
        for datagram in datagrams {
            handle(datagram.bytes, from: datagram.source, to: datagram.destination, at: now)
        }
        // Not only at the end of the turn: another shard can begin while this one reads the next batch.
        flushHandOvers()
    }

    /// Handles one datagram from the socket. It is decrypted in place.
    ///
    /// What names no session that is known is held until ``handleEarlyChecks(at:)``.
    func handle(
        _ datagram: UnsafeMutableRawBufferPointer, from source: TransportAddress, to local: TransportAddress,
        at now: Instant
    ) {
        // Nobody waits for a report. Checks, handshakes and what a talker or a publisher sends are read at once.
        if DatagramKind(UnsafeRawBufferPointer(datagram)) != .rtcp { mayReadLater = false }
        let path = path(from: source, to: local)
        guard !passOn(datagram, path, at: now) else { return }
        handle(datagram, path, at: now)
    }

    /// How a datagram came that this shard's socket received.
    private func path(from source: TransportAddress, to local: TransportAddress) -> DatagramPath {
        DatagramPath(source: source, local: local, door: index, holder: links.count > 1 ? holders[source] : index)
    }

    /// Hands a datagram of this shard's socket to another shard if it is for that one. Answers whether it has been dealt
    /// with.
    private func passOn(_ datagram: UnsafeMutableRawBufferPointer, _ path: DatagramPath, at now: Instant) -> Bool {
        guard links.count > 1 else { return false }
        let bytes = UnsafeRawBufferPointer(datagram)
        switch route(of: bytes, path) {
        case .here: return false
        case .to(let shard): handOver(bytes, path, to: shard)
        case .past(let holder, let shard):
            if holder != index {
                handOver(bytes, path, to: holder, next: shard)
            } else if isHeld(path.source, at: now) {
                counters.contestedChecks += 1
            } else {
                handOver(bytes, path, to: shard)
            }
        }
        return true
    }

    /// A connectivity check and the answer to one say where they belong. Everything else belongs to the holder of its
    /// source, which is asked as well when something else is to come from there (see ``isHeld(_:at:)``).
    private func route(of datagram: UnsafeRawBufferPointer, _ path: DatagramPath) -> Route {
        guard DatagramKind(datagram) == .stun, let named = ShardMark.shard(ofMessage: datagram, of: links.count) else {
            guard let holder = path.holder, holder != index else { return .here }
            return .to(holder)
        }
        if let holder = path.holder, holder != named { return .past(holder: holder, to: named) }
        return named == index ? .here : .to(named)
    }

    /// Whether a session of this shard holds an address, so that nothing that another shard's session gets may come from
    /// there. It is the question of ``belongsToAnother(_:than:at:)`` among shards.
    private func isHeld(_ address: TransportAddress, at now: Instant) -> Bool {
        guard let holder = byAddress[address] else { return false }
        return defends(holder, address, at: now)
    }

    /// Takes what other shards have received for this one, as much as one turn allows.
    func takeHandOvers(at now: Instant) {
        // What is left of the turn before comes first, also when nothing more can come.
        guard receivedRemains || links.count > 1 || links.relayed.isInUse || links.connected.isInUse else { return }
        var left = HandOverQueue.datagramsPerTurn
        if receivedRemains { handleReceived(&left, at: now) }
        if !receivedRemains {
            links.handOvers[index].take(into: &received)
            handleReceived(&left, at: now)
        }
        // Nobody else wakes this shard for what it has taken, or for what came while something was left.
        if receivedRemains { links.wake(index) }
    }

    /// Handles the datagrams that others have received, at most `left`, and takes their number from that.
    private func handleReceived(_ left: inout Int, at now: Instant) {
        // The loop below may hand datagrams on, which must not touch what it walks over.
        var handOvers: [HandOver] = []
        swap(&handOvers, &received)
        for source in handOvers.indices where !handOvers[source].isEmpty {
            let handled = handOvers[source].drain(atMost: left) { datagram, path, next in
                // What has come through a TURN server or over TCP has not been looked at yet.
                if source >= links.relayedSource {
                    return handle(datagram, from: path.source, to: path.local, at: now)
                }
                counters.handedOver += 1
                guard let next else { return handle(datagram, path, at: now) }
                if isHeld(path.source, at: now) {
                    counters.contestedChecks += 1
                } else if next == index {
                    handle(datagram, path, at: now)
                } else {
                    handOver(UnsafeRawBufferPointer(datagram), path, to: next)
                }
            }
            left -= handled
        }
        receivedRemains = handOvers.contains { !$0.isEmpty }
        swap(&handOvers, &received)
    }

    private func handOver(_ datagram: UnsafeRawBufferPointer, _ path: DatagramPath, to shard: Int, next: Int? = nil) {
        handingOver[shard].append(datagram, path, next: next)
        handsOver = true
    }

    /// Passes on what has been collected for other shards: one lock for each, and a wake-up for one that has nothing else
    /// waiting.
    func flushHandOvers() {
        guard handsOver else { return }
        handsOver = false
        for shard in handingOver.indices where !handingOver[shard].isEmpty {
            let (dropped, isFirst) = links.handOvers[shard].add(&handingOver[shard], from: index)
            counters.handOverDrops += UInt64(dropped)
            if isFirst { links.wake(shard) }
        }
    }

    /// All messages that were posted before the held datagrams came have run: what they name is known by now, or never
    /// will be.
    func handleEarlyChecks(at now: Instant) {
        guard !earlyChecks.isEmpty else { return }
        for var check in earlyChecks.takeAll() {
            check.bytes.withUnsafeMutableBytes { datagram in
                var path = check.path
                if path.door == index {
                    // A message may have brought a claim.
                    path = self.path(from: path.source, to: path.local)
                    if passOn(datagram, path, at: now) { return }
                }
                guard let viewer = viewer(for: UnsafeRawBufferPointer(datagram), from: path.source) else {
                    counters.strayDatagrams += 1
                    return
                }
                counters.earlyChecks += 1
                pass(datagram, path, on: viewer, at: now)
            }
        }
        flushHandOvers()
    }
}

/// The holder of an address, as its door knows it.
extension RelayShard {
    /// A session of this shard holds an address from now on.
    func claim(_ address: TransportAddress, from door: Int, at now: Instant) {
        guard links.count > 1 else { return }
        let shard = index
        if door == shard {
            noteClaim(address, by: shard, at: now)
        } else {
            links.post(to: door) { door, now in door.noteClaim(address, by: shard, at: now) }
        }
    }

    /// The last session of this shard has given up an address.
    func release(_ address: TransportAddress, from door: Int) {
        guard links.count > 1 else { return }
        let shard = index
        if door == shard {
            noteRelease(address, by: shard)
        } else {
            links.post(to: door) { door, _ in door.noteRelease(address, by: shard) }
        }
    }

    /// The newest claim counts. The shard that held the address before may object: a check may have been under way when
    /// its session proved that the address is its own.
    private func noteClaim(_ address: TransportAddress, by shard: Int, isObjection: Bool = false, at now: Instant) {
        let before = holders.updateValue(shard, forKey: address)
        guard let before, before != shard, !isObjection else { return }
        let door = index
        if before == door {
            if objects(to: address, at: now) { noteClaim(address, by: door, isObjection: true, at: now) }
            return
        }
        links.post(to: before) { holder, now in
            guard holder.objects(to: address, at: now) else { return }
            holder.links.post(to: door) { door, now in
                door.noteClaim(address, by: before, isObjection: true, at: now)
            }
        }
    }

    private func objects(to address: TransportAddress, at now: Instant) -> Bool {
        byAddress[address]?.peer.hasFreshConsent(from: address, at: now) ?? false
    }

    private func noteRelease(_ address: TransportAddress, by shard: Int) {
        if holders[address] == shard { holders[address] = nil }
    }
}
