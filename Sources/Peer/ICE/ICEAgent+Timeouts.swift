import Transport

extension ICEAgent {
    /// When ``handleDeadline(at:)`` and ``pollTransmit(into:at:)`` have something to do; nil for never.
    public var nextDeadline: Instant? {
        var next = Instant.distantFuture
        if !responses.isEmpty { next = now }
        if selected != nil {
            next = min(next, consent.nextCheck, consent.expires)
            if let silence = relayingDue, silence > now { next = min(next, silence) }
        }
        if generation.knowsRemote {
            for pair in pairs {
                switch pair.check {
                case .triggered: next = min(next, now)
                case .waiting: next = min(next, max(nextOrdinaryCheck, now))
                case .inProgress: next = min(next, pair.deadline)
                case .succeeded, .failed: break
                }
            }
            // The first poll after the peer's credentials came starts the patience timer.
            if isChecking { next = min(next, patienceEnds ?? now) }
        }
        if let nominationDue { next = min(next, nominationDue) }
        if let restartDue { next = min(next, restartDue) }
        return next == .distantFuture ? nil : next
    }

    /// Handles what is due: checks and consent without an answer, and a nomination that waited.
    public mutating func handleDeadline(at now: Instant) {
        expectDrained(isDrained)
        advance(to: now)
        if selected != nil, consent.expires <= now { loseConsent() }
        var hasFailedPair = false
        for index in pairs.indices
        where pairs[index].check == .inProgress && pairs[index].deadline <= now
            && pairs[index].transmissions >= transmissionLimit(of: pairs[index])
        {
            pairs[index].check = .failed
            pairs[index].isValid = false
            pairs[index].wantsNomination = false
            hasFailedPair = true
        }
        // When the pair in use has fallen silent, one that has been valid all along takes its place.
        let isSilent = selected != nil && consent.isOverdue(at: now, timing: timing)
        if hasFailedPair || isSilent || nominationDue.map({ $0 <= now }) ?? false { evaluateNomination() }
        if hasFailedPair, selected != nil, !isChecking { forgetFailedPairs() }
        if let silence = relayingDue, silence <= now { checkThroughServer() }
        if let restartDue, restartDue <= now { wantsRestart = true }
        evaluateFailure()
    }

    /// Time never runs backwards inside the agent, whatever the order of the driver's calls.
    mutating func advance(to time: Instant) {
        now = max(now, time)
    }

    private mutating func loseConsent() {
        let isRestarting = selected?.isFromPreviousGeneration == true
        selected = nil
        consent = Consent()
        if isRestarting, patienceEnds != .distantFuture {
            // The restart may still find a pair; until then nothing may be sent.
            previousGeneration = ICEGeneration()
            state = .checking
            return
        }
        pairs.removeAll()
        responses.removeAll()
        state = .disconnected
        events.append(.disconnected)
    }

    private mutating func forgetFailedPairs() {
        let path = selected?.path
        pairs.removeAll { $0.check == .failed && $0.path != path }
    }

    /// Gives up when patience is over (RFC 8863). Gives up at once when a lite peer, which never sends checks, has no
    /// candidate left.
    mutating func evaluateFailure() {
        guard isChecking, generation.knowsRemote else { return }
        // A TURN server that is away may come back.
        let isHopeless =
            remoteIsLite && remoteCandidatesEnded && !isServerAway && pairs.allSatisfy { $0.check == .failed }
        guard isHopeless || patienceEnds.map({ $0 <= now }) ?? false else { return }
        let failure: ICEFailure =
            pairs.isEmpty ? .noCandidates : pairs.contains(where: \.isValid) ? .notNominated : .noResponse
        pairs.removeAll()
        nominationDue = nil
        if selected != nil {
            // The restart found nothing. The pair from before it stays in use as long as it has consent. A check by the
            // peer may still provide a new one.
            patienceEnds = .distantFuture
            return
        }
        responses.removeAll()
        state = .failed
        events.append(.failed(failure))
    }
}
