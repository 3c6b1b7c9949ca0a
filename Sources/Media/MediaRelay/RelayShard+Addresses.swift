import PeerConnection
import Transport

/// The addresses that lead to a session.
extension RelayShard {
    /// How many addresses may lead to one session: those of its candidates, and a few that its router invents.
    private static let maximumAddressesPerSession = 8

    /// The address leads back to the session once the agent has authenticated a check from it.
    func recordAddress(_ path: DatagramPath, of session: Session, at now: Instant) {
        let source = path.source
        guard session.peer.knowsRemoteAddress(source) else { return }
        // Another shard may have claimed the address since this one did.
        guard byAddress[source] !== session || path.holder != index else { return }
        byAddress[source] = session
        claim(source, from: path.door, at: now)
        let known = KnownAddress(address: source, door: path.door)
        session.knownAddresses.removeAll { $0 == known }
        session.knownAddresses.append(known)
        if source.route == .tcp { closeSpareConnections(of: session) }
        guard session.knownAddresses.count > Self.maximumAddressesPerSession,
            let oldest = session.knownAddresses.firstIndex(where: { $0.address != session.peer.remoteAddress })
        else { return }
        forget(session.knownAddresses.remove(at: oldest), of: session)
    }

    /// The address no longer leads to the session.
    func forget(_ known: KnownAddress, of session: Session) {
        let holder = byAddress[known.address]
        if holder === session {
            // One address may have come in by two doors, where the kernel chooses by the destination as well.
            let isStillKnown = session.knownAddresses.contains { $0.address == known.address && $0 != known }
            if !isStillKnown {
                byAddress[known.address] = nil
                if known.address.route == .tcp { links.connected.close(known.address) }
            }
        } else if holder?.knownAddresses.contains(known) == true {
            return
        }
        release(known.address, from: known.door)
    }

    /// Remembers whom a check was sent to: the answer comes from there, perhaps before any check of the peer's own, and
    /// from a lite agent nothing else ever comes.
    func recordAsked(_ address: TransportAddress, by session: Session) {
        guard byAddress[address] !== session, !session.askedAddresses.contains(address) else { return }
        byAskedAddress[address, default: []].append(session)
        session.askedAddresses.append(address)
        if session.askedAddresses.count > Self.maximumAskedAddresses {
            forgetAsked(session.askedAddresses.removeFirst(), by: session)
        }
    }

    /// Forgets that a session waits for an answer from an address.
    func forgetAsked(_ address: TransportAddress, by session: Session) {
        byAskedAddress[address]?.removeAll { $0 === session }
        if byAskedAddress[address]?.isEmpty == true { byAskedAddress[address] = nil }
    }

    /// As many as an agent has pairs.
    private static let maximumAskedAddresses = 32
}

/// The holder of an address, as its door knows it.
extension RelayShard {
    /// A session of this shard holds an address from now on.
    func claim(_ address: TransportAddress, from door: Int, at now: Instant) {
        guard links.count > 1 else { return }
        let shard = index
        if door == shard {
            recordClaim(address, by: shard, at: now)
        } else {
            links.post(to: door) { door, now in door.recordClaim(address, by: shard, at: now) }
        }
    }

    /// The last session of this shard has given up an address.
    func release(_ address: TransportAddress, from door: Int) {
        guard links.count > 1 else { return }
        let shard = index
        if door == shard {
            recordRelease(address, by: shard)
        } else {
            links.post(to: door) { door, _ in door.recordRelease(address, by: shard) }
        }
    }

    /// The newest claim counts. The shard that held the address before may object: a check may have been under way when
    /// its session proved that the address is its own.
    private func recordClaim(_ address: TransportAddress, by shard: Int, isObjection: Bool = false, at now: Instant) {
        let before = holders.updateValue(shard, forKey: address)
        guard let before, before != shard, !isObjection else { return }
        let door = index
        if before == door {
            if objects(to: address, at: now) { recordClaim(address, by: door, isObjection: true, at: now) }
            return
        }
        links.post(to: before) { holder, now in
            guard holder.objects(to: address, at: now) else { return }
            holder.links.post(to: door) { door, now in
                door.recordClaim(address, by: before, isObjection: true, at: now)
            }
        }
    }

    private func objects(to address: TransportAddress, at now: Instant) -> Bool {
        byAddress[address]?.peer.hasFreshConsent(from: address, at: now) ?? false
    }

    private func recordRelease(_ address: TransportAddress, by shard: Int) {
        if holders[address] == shard { holders[address] = nil }
    }
}

/// An address that authenticated checks came from, and the shard whose socket received them.
struct KnownAddress: Hashable, BitwiseCopyable {
    var address: TransportAddress
    var door: Int
}
