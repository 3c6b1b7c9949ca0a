import Transport

extension ICEAgent {
    /// TURN servers relay for the agent at `relayed` from now on: another server does, or the same one after it has lost the
    /// allocation. The peer need not be told: it learns the new address from the first check that comes from there (RFC 8445,
    /// section 7.3.1.3).
    ///
    /// A selected pair through a server stays selected and is checked at once from the new address. Its peer has agreed to
    /// receive this session's datagrams (RFC 7675), and consent still ends when it should. An agent that looks for a pair, or
    /// whose pair has fallen silent, checks the peer's candidates from the new address.
    ///
    /// - Parameter relayed: at most one address of each version of the Internet Protocol.
    public mutating func setRelayed(_ relayed: [TransportAddress], at now: Instant) {
        assert(isDrained, "the driver has not taken the output of the input before")
        advance(to: now)
        addresses.relayed = relayed
        localCandidates = ICELocalCandidate.all(addresses)
        guard state == .checking || state == .connected else { return }
        let inUse = selectedPairIndex
        for index in pairs.indices where index != inUse && pairs[index].remote.route == .relayed {
            // What the old allocation has sent is no longer answered.
            pairs[index].local = nil
            pairs[index].isValid = false
            pairs[index].check = .waiting
        }
        if let path = selected?.path, path.remote.route == .relayed {
            let moved = ICEPath(remote: path.remote, local: relayedAddress(for: path.remote))
            if moved != path {
                if let inUse { pairs[inUse].local = moved.local }
                selected?.path = moved
                events.append(.pairChanged(moved))
            }
            consent.beginAgain(at: now)
        }
        if isChecking {
            checkThroughServer()
        } else if let silence = relayingDue, silence <= now {
            checkThroughServer()
        }
    }

    /// The own address from which a TURN server relays to `remote`; nil if no server does. The server is in another network, in
    /// which a private address would mean another host.
    func relayedAddress(for remote: TransportAddress) -> TransportAddress? {
        guard remote.isGlobal else { return nil }
        return localCandidates.first { $0.relays(to: remote) }?.address
    }

    /// Keeps a candidate of the peer that a TURN server may have to reach later.
    mutating func rememberRelayable(_ candidate: RemoteCandidate) {
        let address = candidate.address
        guard address.isGlobal, isInReach(address), state == .checking || state == .connected else { return }
        relayableCandidates.removeAll { $0.address == address }
        if relayableCandidates.count >= ICELimits.pairs { relayableCandidates.removeFirst() }
        relayableCandidates.append(candidate)
    }

    /// When the pair in use will have been silent for so long that the peer is looked for through the TURN server; nil without
    /// a server, and while consent checks are answered.
    var relayingDue: Instant? {
        guard let selected, !selected.isFromPreviousGeneration, let silence = consent.staleness(timing),
            localCandidates.contains(where: { $0.type == .relayed })
        else { return nil }
        return silence
    }

    /// Checks what is known of the peer through the TURN server, as far as that has not begun.
    mutating func checkThroughServer() {
        for candidate in relayableCandidates where relayedAddress(for: candidate.address) != nil {
            let remote = candidate.address.by(.relayed)
            add(remote, candidate)
            checkAgain(remote)
        }
        // A peer behind a router may have named no address that others can reach.
        guard let selected, !selected.isFromPreviousGeneration, selected.path.remote.route == .direct,
            relayedAddress(for: selected.path.remote) != nil
        else { return }
        let remote = selected.path.remote
        add(
            remote.by(.relayed),
            RemoteCandidate(address: remote, priority: selected.remotePriority, type: .peerReflexive))
    }

    /// A check that succeeded when the view began says nothing of now, and the peer may have forgotten its pair since: a new
    /// check shows it the way.
    private mutating func checkAgain(_ remote: TransportAddress) {
        for index in pairs.indices
        where pairs[index].remote == remote && pairs[index].check == .succeeded
            && now - pairs[index].lastResponse > timing.consentInterval
        {
            pairs[index].check = .waiting
        }
    }
}
