import STUN
import Transport

extension ICEAgent {
    /// Sets the peer's credentials; checks begin.
    public mutating func setRemote(credentials: ICECredentials) {
        generation.setRemote(credentials)
        patienceEnds = nil
    }

    /// Adds a candidate of the peer. Hostile and unreachable ones are filtered out and counted.
    @discardableResult
    public mutating func addRemoteCandidate(_ candidate: RemoteCandidate) -> RemoteCandidateOutcome {
        let outcome = examine(candidate)
        if outcome != .accepted, outcome != .notChecking { counters.filteredCandidates &+= 1 }
        return outcome
    }

    private mutating func examine(_ candidate: RemoteCandidate) -> RemoteCandidateOutcome {
        let address = candidate.address
        guard address.isUsableDestination else { return .unusableDestination }
        if localCandidates.contains(where: { $0.address == address }) { return .ownAddress }
        if address.isLoopback, !localCandidates.contains(where: { $0.type == .host && $0.address.isLoopback }) {
            return .loopback
        }
        if address.family == .ipv6, address.isLinkLocal, address.scope == 0 { return .linkLocalWithoutScope }
        let isReachable = localCandidates.contains { $0.address.family == address.family && $0.route == .direct }
        // The TURN server is in another network, in which a private address would mean another host.
        let isRelayed = relayedAddress(for: address) != nil
        remember(candidate)
        guard isReachable || isRelayed else { return .familyNotAvailable }
        if address.isLinkLocal, !reach.includesLinkLocal { return .linkLocal }
        if address.port < Self.firstUnprivilegedPort, !reach.includesPrivilegedPorts { return .privilegedPort }
        guard isChecking else { return .notChecking }
        let direct = isReachable ? add(address, candidate) : nil
        let relayed = isRelayed ? add(address.by(.relayed), candidate) : nil
        return direct ?? relayed ?? .familyNotAvailable
    }

    private mutating func remember(_ candidate: RemoteCandidate) {
        guard isInReach(candidate.address), state == .checking || state == .connected else { return }
        remoteCandidates.removeAll { $0.address == candidate.address }
        if remoteCandidates.count >= ICELimits.pairs { remoteCandidates.removeFirst() }
        remoteCandidates.append(candidate)
        nameSelectedPair(candidate)
    }

    /// The peer's check may be faster than its candidate, and the pair may be in use by then. The candidate's type still says
    /// how the two ends reach each other.
    private mutating func nameSelectedPair(_ candidate: RemoteCandidate) {
        guard let pair = selected, pair.path.remote == candidate.address, !pair.isFromPreviousGeneration else { return }
        selected?.kind = ICEPathKind(remote: pair.path.remote, remoteType: candidate.type, local: pair.path.local)
    }

    /// Adds the pair of a remote candidate, or gives the known one its priority.
    @discardableResult
    mutating func add(_ address: TransportAddress, _ candidate: RemoteCandidate) -> RemoteCandidateOutcome {
        var isKnown = false
        for index in pairs.indices where pairs[index].remote == address {
            // A check by the peer was faster than its session description (RFC 8445, section 7.3.1.3). The signalled
            // priority replaces that of the peer-reflexive candidate, and the check in progress goes on.
            pairs[index].remotePriority = candidate.priority
            pairs[index].remoteType = candidate.type
            isKnown = true
        }
        if isKnown { return .accepted }
        var pair = CandidatePair(remote: address, local: nil, remotePriority: candidate.priority)
        pair.remoteType = candidate.type
        return insert(pair, evicting: { $0.check == .failed || $0.check == .waiting }) == nil ? .tooMany : .accepted
    }

    /// Whether the agent may send to an address that a check came from. The sender may have forged the source.
    func isInReach(_ address: TransportAddress) -> Bool {
        (reach.includesLinkLocal || !address.isLinkLocal)
            && (reach.includesPrivilegedPorts || address.port >= Self.firstUnprivilegedPort)
    }

    private static let firstUnprivilegedPort: UInt16 = 1024

    /// The peer has named all its candidates (RFC 8838, section 13). Only a lite peer is given up for that reason, as
    /// soon as all its pairs have failed. Any other peer may still send checks from an unknown address (RFC 8863,
    /// section 4).
    public mutating func endOfRemoteCandidates() {
        remoteCandidatesEnded = true
        evaluateFailure()
    }

    /// Begins a new generation with new credentials (RFC 8445, section 9). The selected pair stays in use, with its
    /// consent checked by the old credentials, until a pair of the new generation is selected.
    /// - Parameter addresses: the agent's own addresses from now on; nil if they are still the same.
    public mutating func restart(
        localCredentials: ICECredentials, remoteCredentials: ICECredentials?, addresses: ICEAddresses? = nil,
        at now: Instant
    ) {
        advance(to: now)
        if let addresses {
            self.addresses = addresses
            localCandidates = ICELocalCandidate.all(addresses)
            isServerAway = false
        }
        knownRelayed = self.addresses.relayed
        relayedUnknownSince = nil
        wantsRestart = false
        let hasOldPair = selected != nil
        if hasOldPair, selected?.isFromPreviousGeneration == false {
            // Before a second restart has found a pair, the pair in use still belongs to the first generation.
            swap(&generation, &previousGeneration)
            selected?.isFromPreviousGeneration = true
        }
        generation = ICEGeneration(local: localCredentials, remote: remoteCredentials)
        tieBreaker = random.next()
        pairs.removeAll()
        responses.removeAll(where: { !$0.isFromPreviousGeneration })
        remoteCandidatesEnded = false
        remoteCandidates.removeAll()
        nominationDue = nil
        patienceEnds = nil
        nextOrdinaryCheck = now
        state = hasOldPair ? .connected : .checking
    }

    /// Whether the agent is looking for a pair of the current generation.
    var isChecking: Bool {
        switch state {
        case .checking: true
        case .connected: selected?.isFromPreviousGeneration ?? true
        case .disconnected, .failed: false
        }
    }

    /// Adds a pair. In a full list it replaces the worst pair that may be dropped. Returns its position, or nil.
    ///
    /// - Parameter isProven: whether a check came from there; then its priority does not matter.
    mutating func insert(
        _ pair: CandidatePair, isProven: Bool = false, evicting isExpendable: (CandidatePair) -> Bool
    ) -> Int? {
        if pairs.count < ICELimits.pairs {
            pairs.append(pair)
            return pairs.count - 1
        }
        var worst: Int?
        for index in pairs.indices where isExpendable(pairs[index]) {
            // A failed pair is dropped before any other.
            let key = (pairs[index].check == .failed ? 0 : 1, priority(of: pairs[index]))
            if let best = worst, key >= (pairs[best].check == .failed ? 0 : 1, priority(of: pairs[best])) { continue }
            worst = index
        }
        guard let worst else { return nil }
        guard isProven || pairs[worst].check == .failed || priority(of: pair) > priority(of: pairs[worst]) else {
            return nil
        }
        pairs[worst] = pair
        return worst
    }

    /// The pair's priority (RFC 8445, section 6.1.2.3).
    func priority(of pair: CandidatePair) -> UInt64 {
        let local = localPriority(for: pair)
        return switch role {
        case .controlling: ICE.pairPriority(controlling: local, controlled: pair.remotePriority)
        case .controlled: ICE.pairPriority(controlling: pair.remotePriority, controlled: local)
        }
    }

    /// The priority of the local candidate of a pair: the one at the pair's local address, otherwise the best one of
    /// the family and the route.
    func localPriority(for pair: CandidatePair) -> UInt32 {
        var best: UInt32 = 0
        for candidate in localCandidates
        where candidate.address.family == pair.remote.family
            && candidate.route == pair.remote.route
        {
            if let local = pair.local, candidate.address.hasSameHost(as: local) { return candidate.priority }
            best = max(best, candidate.priority)
        }
        return best
    }

    /// The pair with the highest priority of those that `isWanted` accepts.
    func bestPair(where isWanted: (CandidatePair) -> Bool) -> Int? {
        var best: Int?
        for index in pairs.indices where isWanted(pairs[index]) {
            if let known = best, priority(of: pairs[known]) >= priority(of: pairs[index]) { continue }
            best = index
        }
        return best
    }
}
