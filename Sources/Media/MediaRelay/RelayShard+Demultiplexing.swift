import ICE
import PeerConnection
import RTP
import Transport

extension RelayShard {
    /// How many addresses may lead to one viewer: those of its candidates, and a few that its router invents.
    private static let maximumAddressesPerViewer = 8

    /// Handles one datagram that is for this shard, as far as anybody knows. It is decrypted in place.
    func handle(_ datagram: UnsafeMutableRawBufferPointer, _ path: DatagramPath, at now: Instant) {
        let bytes = UnsafeRawBufferPointer(datagram)
        // Before the viewers: one that forges the server's address would swallow its answers.
        if takeReflexiveAddress(bytes, from: path.source, at: now) { return }
        if let viewer = viewer(for: bytes, from: path.source) {
            pass(datagram, path, on: viewer, at: now)
            return
        }
        if mayBeEarly(bytes, path), earlyChecks.hold(bytes, path) { return }
        counters.strayDatagrams += 1
    }

    /// Whether a message that is on the way may explain a datagram: a check names a session that is still to be added, or
    /// another shard's claim to the source has not been read.
    private func mayBeEarly(_ datagram: UnsafeRawBufferPointer, _ path: DatagramPath) -> Bool {
        if DatagramKind(datagram) == .stun { return ICE.localUsernameFragment(inBindingRequest: datagram) != nil }
        return links.count > 1 && path.door == index && path.holder == nil
    }

    func pass(
        _ datagram: UnsafeMutableRawBufferPointer, _ path: DatagramPath, on viewer: Viewer, at now: Instant
    ) {
        let kind = DatagramKind(UnsafeRawBufferPointer(datagram))
        if kind == .stun, belongsToAnother(path.source, than: viewer, at: now) {
            counters.contestedChecks += 1
            return
        }
        let proofs = viewer.peer.authenticatedChecks
        switch viewer.peer.handle(datagram, from: path.source, to: path.local, at: now) {
        case .nothing:
            if viewer.peer.authenticatedChecks != proofs {
                noteAddress(path, of: viewer, at: now)
                viewer.takeProbeAnswer(through: &sender, limits: limits, at: now)
            }
        case .data(let range):
            viewer.configuration.dataSink?.receive(UnsafeRawBufferPointer(rebasing: datagram[range]))
            return serviceMedia(viewer, at: now)
        case .rtp(let count):
            viewer.receiveRTP(UnsafeRawBufferPointer(rebasing: datagram[..<count]), at: now)
            return serviceMedia(viewer, at: now)
        case .rtcp(let count):
            noteSoundLoss(in: UnsafeRawBufferPointer(rebasing: datagram[..<count]), of: viewer, at: now)
            viewer.receiveRTCP(
                UnsafeRawBufferPointer(rebasing: datagram[..<count]), through: &sender, limits: limits, at: now)
            return serviceMedia(viewer, at: now)
        }
        service(viewer, at: now)
    }

    /// A connectivity check names its session by the username, and the answer to one by its transaction; everything else
    /// is known by its address.
    func viewer(for datagram: UnsafeRawBufferPointer, from source: TransportAddress) -> Viewer? {
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
    /// A host that forges its source address, or is behind the same NAT, can send valid checks of its own session
    /// from the address of somebody else's viewer. Two sessions cannot both be real at one address and port, since media
    /// names no session. So the one that has answered there keeps the address, and the checks of others get no answer. It
    /// loses the address when it falls silent, and it is asked at once. So a viewer that starts again on the port of the
    /// one before is served some four seconds later.
    private func belongsToAnother(_ source: TransportAddress, than viewer: Viewer, at now: Instant) -> Bool {
        guard let holder = byAddress[source], holder !== viewer else { return false }
        return defends(holder, source, at: now)
    }

    /// Whether a session that holds an address still answers there. It is asked again at once.
    func defends(_ holder: Viewer, _ address: TransportAddress, at now: Instant) -> Bool {
        guard holder.peer.hasFreshConsent(from: address, at: now) else { return false }
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
    private func noteAddress(_ path: DatagramPath, of viewer: Viewer, at now: Instant) {
        let source = path.source
        guard viewer.peer.knowsRemoteAddress(source) else { return }
        // Another shard may have claimed the address since this one did.
        guard byAddress[source] !== viewer || path.holder != index else { return }
        byAddress[source] = viewer
        claim(source, from: path.door, at: now)
        let known = KnownAddress(address: source, door: path.door)
        viewer.knownAddresses.removeAll { $0 == known }
        viewer.knownAddresses.append(known)
        if source.route == .tcp { closeSpareConnections(of: viewer) }
        guard viewer.knownAddresses.count > Self.maximumAddressesPerViewer,
            let oldest = viewer.knownAddresses.firstIndex(where: { $0.address != viewer.peer.remoteAddress })
        else { return }
        forget(viewer.knownAddresses.remove(at: oldest), of: viewer)
    }

    /// The address no longer leads to the viewer.
    func forget(_ known: KnownAddress, of viewer: Viewer) {
        let holder = byAddress[known.address]
        if holder === viewer {
            // One address may have come in by two doors, where the kernel chooses by the destination as well.
            let isStillKnown = viewer.knownAddresses.contains { $0.address == known.address && $0 != known }
            if !isStillKnown {
                byAddress[known.address] = nil
                if known.address.route == .tcp { links.connected.close(known.address) }
            }
        } else if holder?.knownAddresses.contains(known) == true {
            return
        }
        release(known.address, from: known.door)
    }
}

/// An address that authenticated checks came from, and the shard whose socket received them.
struct KnownAddress: Hashable, BitwiseCopyable {
    var address: TransportAddress
    var door: Int
}
