import STUN
import Transport

extension ICEAgent {
    /// The position of the selected pair in the list; nil when it is from before a restart.
    var selectedPairIndex: Int? {
        guard let selected, !selected.isFromPreviousGeneration else { return nil }
        return pairs.firstIndex { $0.path == selected.path }
    }

    /// Whether `address` belongs to this peer beyond doubt: it has answered the agent's checks from there, and has not
    /// fallen silent since. A check that only came from there proves nothing, since its source may be forged.
    public func hasFreshConsent(from address: TransportAddress, at now: Instant) -> Bool {
        guard state == .checking || state == .connected else { return false }
        if let selected, selected.path.remote == address { return !consent.isStale(at: now, timing: timing) }
        return pairs.contains {
            $0.remote == address && $0.isValid && now - $0.lastResponse <= timing.consentInterval
        }
    }

    /// Sends the next consent check now, because another session claims the peer's address; at most once a second. This
    /// soon shows a peer that has gone.
    public mutating func hastenConsentCheck(at now: Instant) {
        advance(to: now)
        if selected != nil { consent.hasten(at: now, timing: timing) }
    }

    /// Whether a response with this transaction identifier would be the answer to a check of the agent.
    public func awaits(_ id: STUNTransactionID) -> Bool {
        consent.awaits(id) || probes.awaits(id) || pairs.contains { $0.transactionID == id && $0.check == .inProgress }
    }

    /// Controlling: nominates the best valid pair once nothing better is expected (RFC 8445, section 8.1.1).
    mutating func evaluateNomination() {
        let silent = selected?.isFromPreviousGeneration == false ? selected?.path : nil
        guard role == .controlling, needsPair,
            !pairs.contains(where: { $0.wantsNomination && $0.isUndecided }),
            let best = bestPair(where: { $0.isValid && $0.check == .succeeded && $0.path != silent })
        else {
            nominationDue = nil
            return
        }
        let bestPriority = priority(of: pairs[best])
        let expectsBetter = pairs.contains { $0.isUndecided && priority(of: $0) > bestPriority }
        if expectsBetter, now < (nominationDue ?? .distantFuture) {
            nominationDue = nominationDue ?? now + timing.nominationDelay
            return
        }
        nominationDue = nil
        pairs[best].wantsNomination = true
        pairs[best].check = .triggered
    }

    /// Whether no pair is in use, or the one in use should be replaced.
    private var needsPair: Bool {
        guard let selected else { return isChecking }
        return selected.isFromPreviousGeneration || consent.isOverdue(at: now, timing: timing)
    }

    /// Selects a nominated pair that was answered, unless the one in use should be kept.
    mutating func acceptNomination(_ index: Int) {
        guard let selected, !selected.isFromPreviousGeneration, pairs[index].path != selected.path else {
            select(index)
            return
        }
        let isHigher = priority(of: pairs[index]) > selected.priority
        let isOverdue = consent.isOverdue(at: now, timing: timing)
        let wins =
            switch role {
            case .controlling: isHigher || isOverdue || pairs[index].wantsNomination
            case .controlled: isHigher || isOverdue || now - selected.since >= timing.settling
            }
        if wins { select(index) }
    }

    private mutating func select(_ index: Int) {
        let pair = pairs[index]
        let isFirst = selected == nil
        if let selected, !selected.isFromPreviousGeneration, selected.path == pair.path {
            // Nominated again: the response counts like one to a consent check.
            consent.begin(at: now, timing: timing, random: &random)
            wantsRestart = false
            return
        }
        let chosen = priority(of: pair)
        selected = SelectedPair(
            path: pair.path, kind: pair.pathKind, since: now, priority: chosen, remotePriority: pair.remotePriority)
        consent.begin(at: now, timing: timing, random: &random)
        wantsRestart = false
        state = .connected
        nominationDue = nil
        patienceEnds = nil
        previousGeneration = ICEGeneration()
        events.append(isFirst ? .connected(pair.path) : .pairChanged(pair.path))
        // A better pair whose check is still in progress may yet win. All others are no longer needed (section 8.1.2).
        let kept = pairs.filter { $0.path == pair.path || $0.isUndecided && priority(of: $0) > chosen }
        pairs = kept
    }
}
