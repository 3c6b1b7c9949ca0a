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
    func isHeld(_ address: TransportAddress, at now: Instant) -> Bool {
        guard let holder = byAddress[address] else { return false }
        return defends(holder, address, at: now)
    }

    /// Handles one datagram that is for this shard, as far as anybody knows. It is decrypted in place.
    func handle(_ datagram: UnsafeMutableRawBufferPointer, _ path: DatagramPath, at now: Instant) {
        let bytes = UnsafeRawBufferPointer(datagram)
        let kind = DatagramKind(bytes)
        // Before the sessions: one that forges the server's address would swallow its answers.
        if kind == .stun, takeReflexiveAddress(bytes, from: path.source, at: now) { return }
        if let session = session(for: bytes, of: kind, from: path.source) {
            pass(datagram, of: kind, path, on: session, at: now)
            return
        }
        if mayBeEarly(bytes, of: kind, path), earlyChecks.hold(bytes, path) { return }
        counters.strayDatagrams += 1
    }

    /// A connectivity check names its session by the username, and the answer to one by its transaction; everything else
    /// is known by its address.
    func session(
        for datagram: UnsafeRawBufferPointer, of kind: DatagramKind, from source: TransportAddress
    ) -> Session? {
        if kind == .stun, let fragment = ICE.localUsernameFragment(inBindingRequest: datagram) {
            return UsernameFragmentKey(fragment).flatMap { byFragment[$0] }
        }
        let known = byAddress[source]
        guard kind == .stun, known?.peer.awaits(datagram) != true, let asking = byAskedAddress[source] else {
            return known
        }
        // Anybody may name any address as a candidate, so several sessions may wait for an answer from this one.
        return asking.first { $0.peer.awaits(datagram) } ?? known
    }

    func pass(
        _ datagram: UnsafeMutableRawBufferPointer, of kind: DatagramKind, _ path: DatagramPath, on session: Session,
        at now: Instant
    ) {
        if kind == .stun, belongsToAnother(path.source, than: session, at: now) {
            counters.contestedChecks += 1
            return
        }
        let proofs = session.peer.authenticatedChecks
        switch session.peer.handle(datagram, from: path.source, to: path.local, at: now) {
        case .nothing:
            if session.peer.authenticatedChecks != proofs {
                recordAddress(path, of: session, at: now)
                session.takeProbeAnswer(through: &sender, limits: limits, at: now)
            }
        case .data(let range):
            session.receiveData(UnsafeRawBufferPointer(rebasing: datagram[range]))
            return serviceMedia(session, at: now)
        case .rtp(let count):
            session.receiveRTP(UnsafeRawBufferPointer(rebasing: datagram[..<count]), at: now)
            return serviceMedia(session, at: now)
        case .rtcp(let count):
            session.receiveRTCP(
                UnsafeRawBufferPointer(rebasing: datagram[..<count]), through: &sender, at: now)
            return serviceMedia(session, at: now)
        }
        service(session, at: now)
    }

    /// Whether an address belongs to another session, which has fresh consent there.
    ///
    /// A host that forges its source address, or is behind the same NAT, can send valid checks of its own session
    /// from the address of somebody else's viewer. Two sessions cannot both be real at one address and port, since media
    /// names no session. So the one that has answered there keeps the address, and the checks of others get no answer. It
    /// loses the address when it falls silent, and it is asked at once. So a viewer that starts again on the port of the
    /// one before is served some four seconds later.
    private func belongsToAnother(_ source: TransportAddress, than session: Session, at now: Instant) -> Bool {
        guard let holder = byAddress[source], holder !== session else { return false }
        return defends(holder, source, at: now)
    }

    /// Whether a session that holds an address still answers there. It is asked again at once.
    func defends(_ holder: Session, _ address: TransportAddress, at now: Instant) -> Bool {
        guard holder.peer.hasFreshConsent(from: address, at: now) else { return false }
        holder.peer.hastenConsentCheck(at: now)
        service(holder, at: now)
        return true
    }

    /// Whether a message that is on the way may explain a datagram: a check names a session that is still to be added, or
    /// another shard's claim to the source has not been read.
    private func mayBeEarly(
        _ datagram: UnsafeRawBufferPointer, of kind: DatagramKind, _ path: DatagramPath
    ) -> Bool {
        if kind == .stun { return ICE.localUsernameFragment(inBindingRequest: datagram) != nil }
        return links.count > 1 && path.door == index && path.holder == nil
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
                let bytes = UnsafeRawBufferPointer(datagram)
                let kind = DatagramKind(bytes)
                guard let session = session(for: bytes, of: kind, from: path.source) else {
                    counters.strayDatagrams += 1
                    return
                }
                counters.earlyChecks += 1
                pass(datagram, of: kind, path, on: session, at: now)
            }
        }
        flushHandOvers()
    }
}
