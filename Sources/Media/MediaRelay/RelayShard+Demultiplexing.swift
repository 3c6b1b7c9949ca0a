import ICE
import PeerConnection
import RTP
import Transport

extension RelayShard {
    /// How many addresses may lead to one viewer: those of its candidates, and a few that its router invents.
    private static let maximumAddressesPerViewer = 8

    /// Takes one datagram from the socket. It is decrypted where it stands.
    ///
    /// A check for a session that is not known is held until ``handleEarlyChecks(at:)``.
    func handle(
        _ datagram: UnsafeMutableRawBufferPointer, from source: TransportAddress, to local: TransportAddress,
        at now: Instant
    ) {
        let bytes = UnsafeRawBufferPointer(datagram)
        if let viewer = viewer(for: bytes, from: source) {
            pass(datagram, from: source, to: local, on: viewer, at: now)
            return
        }
        let isCheck = DatagramKind(bytes) == .stun && ICE.localUsernameFragment(inBindingRequest: bytes) != nil
        if isCheck, earlyChecks.hold(bytes, from: source, to: local) { return }
        counters.strayDatagrams += 1
    }

    /// All messages that were posted before the held checks came have run: their sessions are known by now, or never will be.
    func handleEarlyChecks(at now: Instant) {
        guard !earlyChecks.isEmpty else { return }
        for var check in earlyChecks.takeAll() {
            check.bytes.withUnsafeMutableBytes { datagram in
                guard let viewer = viewer(for: UnsafeRawBufferPointer(datagram), from: check.source) else {
                    counters.strayDatagrams += 1
                    return
                }
                counters.earlyChecks += 1
                pass(datagram, from: check.source, to: check.local, on: viewer, at: now)
            }
        }
    }

    private func pass(
        _ datagram: UnsafeMutableRawBufferPointer, from source: TransportAddress, to local: TransportAddress,
        on viewer: Viewer, at now: Instant
    ) {
        let kind = DatagramKind(UnsafeRawBufferPointer(datagram))
        if kind == .stun, belongsToAnother(source, than: viewer, at: now) {
            counters.contestedChecks += 1
            return
        }
        let proofs = viewer.peer.authenticatedChecks
        switch viewer.peer.handle(datagram, from: source, to: local, at: now) {
        case .nothing:
            if viewer.peer.authenticatedChecks != proofs { noteAddress(source, local: local, of: viewer) }
        case .rtp(let count):
            viewer.receiveRTP(UnsafeRawBufferPointer(rebasing: datagram[..<count]), at: now)
        case .rtcp(let count):
            viewer.receiveRTCP(
                UnsafeRawBufferPointer(rebasing: datagram[..<count]), through: &sender, limits: limits, at: now)
        }
        service(viewer, at: now)
    }

    /// A connectivity check names its session by the username, and the answer to one by its transaction; everything else
    /// is known by its address.
    private func viewer(for datagram: UnsafeRawBufferPointer, from source: TransportAddress) -> Viewer? {
        let kind = DatagramKind(datagram)
        if kind == .stun, let fragment = ICE.localUsernameFragment(inBindingRequest: datagram) {
            return byFragment[String(decoding: fragment, as: UTF8.self)]
        }
        let known = byAddress[source]
        guard kind == .stun, known?.peer.awaits(datagram) != true, let asking = byAskedAddress[source] else {
            return known
        }
        // Anybody may name any address as a candidate, so several sessions may wait for an answer from this one.
        return asking.first { $0.peer.awaits(datagram) } ?? known
    }

    /// Whether an address belongs to another session, which has fresh consent there.
    ///
    /// Who can forge a source address, or sends from behind the same NAT, can send valid checks of a session of their own
    /// from the address of somebody else's viewer. Two sessions cannot both be real at one address and port, since media
    /// names no session; so the one that has answered there keeps it, and the checks of others are not even answered. It
    /// loses the address when it falls silent, which is asked at once: a viewer that starts again on the port of the one
    /// before is served some four seconds later.
    private func belongsToAnother(_ source: TransportAddress, than viewer: Viewer, at now: Instant) -> Bool {
        guard let holder = byAddress[source], holder !== viewer,
            holder.peer.hasFreshConsent(from: source, at: now)
        else { return false }
        holder.peer.hastenConsentCheck(at: now)
        service(holder, at: now)
        return true
    }

    /// Remembers whom a check was sent to: the answer comes from there, perhaps before any check of the viewer's own, and
    /// from a lite agent nothing else ever comes.
    func noteAsked(_ address: TransportAddress, by viewer: Viewer) {
        guard byAddress[address] !== viewer, !viewer.askedAddresses.contains(address) else { return }
        byAskedAddress[address, default: []].append(viewer)
        viewer.askedAddresses.append(address)
        if viewer.askedAddresses.count > Self.maximumAskedAddresses {
            forgetAsked(viewer.askedAddresses.removeFirst(), by: viewer)
        }
    }

    /// Forgets that a viewer waits for an answer from an address.
    func forgetAsked(_ address: TransportAddress, by viewer: Viewer) {
        byAskedAddress[address]?.removeAll { $0 === viewer }
        if byAskedAddress[address]?.isEmpty == true { byAskedAddress[address] = nil }
    }

    /// As many as an agent has pairs.
    private static let maximumAskedAddresses = 32

    /// The address leads back to the viewer once the agent has authenticated a check from it.
    private func noteAddress(_ source: TransportAddress, local: TransportAddress, of viewer: Viewer) {
        guard viewer.peer.knowsRemoteAddress(source) else { return }
        guard byAddress[source] !== viewer else { return }
        byAddress[source] = viewer
        viewer.knownAddresses.removeAll { $0 == source }
        viewer.knownAddresses.append(source)
        guard viewer.knownAddresses.count > Self.maximumAddressesPerViewer,
            let oldest = viewer.knownAddresses.firstIndex(where: { $0 != viewer.peer.remoteAddress })
        else { return }
        let address = viewer.knownAddresses.remove(at: oldest)
        if byAddress[address] === viewer { byAddress[address] = nil }
    }
}
