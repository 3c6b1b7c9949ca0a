import Transport

extension ICEAgent {
    /// TURN servers relay for the agent at `relayed` from now on: another server does, or the same one after it has lost the
    /// allocation. The peer need not be told: it learns the new address from the first check that comes from there (RFC
    /// 8445, section 7.3.1.3). If no such check is answered, see ``wantsRestart``.
    ///
    /// A selected pair through a server stays selected and is checked at once from the new address, and so are the peer's
    /// candidates. Its peer has agreed to receive this session's datagrams (RFC 7675), and consent still ends when it should. An
    /// agent that looks for a pair, or whose pair has fallen silent, checks the peer's candidates from the new address.
    /// If an address stays the same, the results of its pairs stay valid.
    ///
    /// - Parameter relayed: at most one address of each version of the Internet Protocol; empty while no server relays. Then the
    ///   pairs that work stay, because a server that does not answer the agent may still relay, and no others are tried.
    public mutating func setRelayed(_ relayed: [TransportAddress], at now: Instant) {
        expectDrained(isDrained)
        advance(to: now)
        guard !relayed.isEmpty else { return leaveServer() }
        let before = addresses.relayed
        guard isServerAway || relayed != before else { return }
        isServerAway = false
        addresses.relayed = relayed
        localCandidates = ICELocalCandidate.all(addresses)
        relayedUnknownSince = Set(relayed).isSubset(of: knownRelayed) ? nil : now
        wantsRestart = false
        guard state == .checking || state == .connected else { return }
        renewRelayedPairs(relayedBefore: before)
        let hasMoved = moveSelectedPair()
        if isChecking || hasMoved {
            checkThroughServer()
        } else if let silence = relayingDue, silence <= now {
            checkThroughServer()
        }
    }

    /// No server relays for now. Pairs through it from which nothing has ever come are dropped;
    /// ``checkThroughServer()`` makes them again.
    private mutating func leaveServer() {
        guard !addresses.relayed.isEmpty, !isServerAway else { return }
        isServerAway = true
        wantsRestart = false
        let path = selected?.path
        pairs.removeAll { $0.remote.route == .relayed && $0.isSilent && $0.path != path }
    }

    /// Adapts the pairs through the server, except the one in use, to its present addresses.
    private mutating func renewRelayedPairs(relayedBefore: [TransportAddress]) {
        let path = selectedPairIndex.map { pairs[$0].path }
        var dropped: Set<TransportAddress> = []
        for index in pairs.indices where pairs[index].remote.route == .relayed && pairs[index].path != path {
            let remote = pairs[index].remote
            let local = relayedAddress(for: remote)
            let earlier = pairs[index].local ?? relayedBefore.first { $0.family == remote.family }
            if local == nil || local != earlier && !isChecking {
                dropped.insert(remote)
            } else if local != earlier {
                // Checks from the old allocation are no longer answered.
                pairs[index].local = nil
                pairs[index].isValid = false
                pairs[index].check = .waiting
            } else if isChecking, !pairs[index].isUndecided {
                // The server may have forgotten the permission meanwhile. A check creates it again.
                pairs[index].check = .waiting
            }
        }
        pairs.removeAll { dropped.contains($0.remote) && $0.path != path }
    }

    /// Lets a selected pair through the server use the address at which it relays now, and checks the pair.
    /// - Returns: whether the address has changed.
    private mutating func moveSelectedPair() -> Bool {
        guard let path = selected?.path, path.remote.route == .relayed, let local = relayedAddress(for: path.remote)
        else { return false }
        consent.beginAgain(at: now)
        let moved = ICEPath(remote: path.remote, local: local)
        guard moved != path else { return false }
        if let inUse = selectedPairIndex { pairs[inUse].local = local }
        selected?.path = moved
        events.append(.pairChanged(moved))
        return true
    }

    /// The own address from which a TURN server relays to `remote`; nil if no server does now. The server is in another network,
    /// in which a private address would mean another host.
    func relayedAddress(for remote: TransportAddress) -> TransportAddress? {
        guard !isServerAway, remote.isGlobal else { return nil }
        return localCandidates.first { $0.relays(to: remote) }?.address
    }

    /// When the pair in use will have been silent for so long that the peer is looked for through the TURN server; nil without
    /// a server, and while consent checks are answered.
    var relayingDue: Instant? {
        guard let selected, !selected.isFromPreviousGeneration, let silence = consent.staleness(timing), !isServerAway,
            localCandidates.contains(where: { $0.type == .relayed })
        else { return nil }
        return silence
    }

    /// Checks what is known of the peer through the TURN server, as far as that has not begun.
    mutating func checkThroughServer() {
        for candidate in remoteCandidates where relayedAddress(for: candidate.address) != nil {
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

    /// When a restart by the peer will be worth asking for; nil where it would not help, or has already been asked for.
    var restartDue: Instant? {
        guard !wantsRestart, !remoteIsLite, !isServerAway, let since = relayedUnknownSince else { return nil }
        let due = since + timing.relayPatience
        guard let selected else {
            return state == .checking && !pairs.contains(where: \.isValid) ? due : nil
        }
        guard let silence = consent.staleness(timing) else { return nil }
        // The peer has restarted before the change, so the restart has not shown it where the server relays now.
        if selected.isFromPreviousGeneration { return pairs.contains(where: \.isValid) ? nil : max(silence, due) }
        // Through the server, the peer is checked from the change on; on another path only from the silence on.
        let tried = selected.path.remote.route == .relayed ? silence : silence + timing.relayPatience
        return max(tried, due)
    }

    /// The peer has answered a check. A check through the server has shown it where the server relays.
    mutating func recordAnswer(from remote: TransportAddress) {
        if remote.route == .relayed, relayedUnknownSince != nil {
            knownRelayed = addresses.relayed
            relayedUnknownSince = nil
        }
        // An answer on another path does not end the silence of the one in use.
        if relayedUnknownSince == nil || !consent.isStale(at: now, timing: timing) { wantsRestart = false }
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
