import STUN
import Transport

extension ICEAgent {
    /// Writes the next datagram that is due into `buffer`; nil when none is due. ``transmitSource`` says which of the
    /// own addresses it must leave from.
    ///
    /// - Parameter buffer: at least ``STUN/sufficientBufferSize`` bytes.
    public mutating func pollTransmit(into buffer: UnsafeMutableRawBufferPointer, at now: Instant) -> Transmit? {
        var budget = CheckBudget.unlimited
        return pollTransmit(into: buffer, at: now, budget: &budget)
    }

    /// Writes the next datagram that is due into `buffer`; checks to addresses that have never answered come out of
    /// `budget`.
    ///
    /// - Parameter buffer: at least ``STUN/sufficientBufferSize`` bytes.
    public mutating func pollTransmit(
        into buffer: UnsafeMutableRawBufferPointer, at now: Instant, budget: inout CheckBudget
    ) -> Transmit? {
        advance(to: now)
        while !responses.isEmpty {
            let response = responses.removeFirst()
            transmitSource = response.source
            if let count = write(response, into: buffer) {
                return Transmit(destination: response.destination, byteCount: count)
            }
        }
        if let path = selected?.path, consent.nextCheck <= now {
            transmitSource = path.local
            // If the message does not fit, the check counts as sent and lost, and consent expires.
            if let count = writeConsentCheck(into: buffer) {
                return Transmit(destination: path.remote, byteCount: count)
            }
        }
        guard generation.knowsRemote, isChecking || !pairs.isEmpty else { return nil }
        if patienceEnds == nil, isChecking { patienceEnds = now + timing.patience }
        while let index = dueCheck(&budget) {
            transmitSource = pairs[index].local
            if let count = writeCheck(index, into: buffer) {
                return Transmit(destination: pairs[index].remote, byteCount: count)
            }
            pairs[index].check = .failed
        }
        return nil
    }

    /// The pair whose check is due now: first the triggered ones, then those whose response did not come, then the next
    /// one that the pacing allows.
    private mutating func dueCheck(_ budget: inout CheckBudget) -> Int? {
        if let triggered = bestPair(where: { $0.check == .triggered }) { return triggered }
        for index in pairs.indices
        where pairs[index].check == .inProgress && pairs[index].deadline <= now
            && pairs[index].transmissions < transmissionLimit(of: pairs[index])
        {
            guard !pairs[index].isFree, let affordable = budget.pay(at: now) else { return index }
            pairs[index].deadline = affordable
            counters.postponedChecks &+= 1
        }
        guard nextOrdinaryCheck <= now, let waiting = bestPair(where: { $0.check == .waiting }) else { return nil }
        if let affordable = budget.pay(at: now) {
            nextOrdinaryCheck = affordable
            counters.postponedChecks &+= 1
            return nil
        }
        nextOrdinaryCheck = now + timing.pacing
        return waiting
    }

    /// How often the check on a pair may be sent.
    func transmissionLimit(of pair: CandidatePair) -> UInt8 {
        pair.isSilent ? timing.maximumUnansweredTransmissions : timing.maximumTransmissions
    }

    // MARK: - Messages

    private mutating func write(_ response: PendingResponse, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        var builder = STUNMessageBuilder(
            into: buffer, messageClass: response.errorCode == 0 ? .successResponse : .errorResponse,
            transactionID: response.transactionID)
        if response.errorCode == 0 {
            builder.addMappedAddress(response.destination)
        } else {
            builder.addErrorCode(response.errorCode)
        }
        if response.unknownAttribute != 0 { builder.addUnknownAttribute(response.unknownAttribute) }
        if response.isFromPreviousGeneration {
            builder.addMessageIntegrity(&previousGeneration.localKey)
        } else {
            builder.addMessageIntegrity(&generation.localKey)
        }
        builder.addFingerprint()
        return builder.finish()
    }

    private mutating func writeCheck(_ index: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        if pairs[index].check != .inProgress {
            pairs[index].transactionID = STUNTransactionID(using: &random, mark: transactionMark)
            pairs[index].transmissions = 0
            pairs[index].firstSent = now
            pairs[index].carriesNomination =
                role == .controlling && (nomination == .aggressive || pairs[index].wantsNomination)
            pairs[index].check = .inProgress
        }
        let doublings = Int32(min(pairs[index].transmissions, 16))
        pairs[index].transmissions &+= 1
        pairs[index].lastSent = now
        pairs[index].isPaidByPeer = false
        let longest =
            pairs[index].isSilent ? timing.maximumUnansweredRetransmission : timing.maximumRetransmission
        pairs[index].deadline = now + min(timing.initialRetransmission * (1 << doublings), longest)
        return writeRequest(
            into: buffer, pairs[index].transactionID, priority: reflexivePriority(localPriority(for: pairs[index])),
            usesCandidate: pairs[index].carriesNomination, ofPreviousGeneration: false)
    }

    private mutating func writeConsentCheck(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard let selected else { return nil }
        let id = STUNTransactionID(using: &random, mark: transactionMark)
        consent.sent(id, at: now, timing: timing, random: &random)
        return writeCheck(on: selected, id, into: buffer)
    }

    /// Writes a check on the selected pair into `buffer` (at least ``STUN/sufficientBufferSize`` bytes): a probe. Its answer
    /// shows that what was sent on this path before it has arrived or is lost, since datagrams to one socket are read in
    /// order. ``transmitSource`` says which of the own addresses it must leave from.
    ///
    /// A probe is a request like one for consent (RFC 7675), but neither its answer nor the lack of one changes consent.
    /// The pacing of RFC 8445, section 14, protects hosts that have not agreed to receive anything; the selected pair has.
    /// - Returns: nil without a selected pair.
    public mutating func writeProbe(
        _ number: UInt64, into buffer: UnsafeMutableRawBufferPointer, at now: Instant
    ) -> Transmit? {
        advance(to: now)
        guard let selected else { return nil }
        let id = STUNTransactionID(using: &random, mark: transactionMark)
        guard let count = writeCheck(on: selected, id, into: buffer) else { return nil }
        transmitSource = selected.path.local
        probes.sent(id, number: number, at: now)
        return Transmit(destination: selected.path.remote, byteCount: count)
    }

    /// The newest answer to a probe since the last call.
    public mutating func takeProbeAnswer() -> ICEProbeAnswer? { probes.takeAnswer() }

    /// Forgets the probes, because the driver no longer needs their answers.
    public mutating func endProbes() { probes.removeAll() }

    private mutating func writeCheck(
        on selected: SelectedPair, _ id: STUNTransactionID, into buffer: UnsafeMutableRawBufferPointer
    ) -> Int? {
        let pair = CandidatePair(
            remote: selected.path.remote, local: selected.path.local, remotePriority: selected.remotePriority)
        // A NAT may have forgotten the old address, so that the check comes from a new one. USE-CANDIDATE shows the
        // peer that this is still the pair to use.
        return writeRequest(
            into: buffer, id, priority: reflexivePriority(localPriority(for: pair)),
            usesCandidate: role == .controlling, ofPreviousGeneration: selected.isFromPreviousGeneration)
    }

    /// PRIORITY of a check: that of the peer-reflexive candidate which it may reveal (RFC 8445, section 7.1.1).
    private func reflexivePriority(_ localPriority: UInt32) -> UInt32 {
        UInt32(ICECandidateType.peerReflexive.preference) << 24 | localPriority & 0x00FF_FFFF
    }

    private mutating func writeRequest(
        into buffer: UnsafeMutableRawBufferPointer, _ id: STUNTransactionID, priority: UInt32, usesCandidate: Bool,
        ofPreviousGeneration isPrevious: Bool
    ) -> Int? {
        var builder = STUNMessageBuilder(into: buffer, messageClass: .request, transactionID: id)
        builder.addUsername(isPrevious ? previousGeneration.remoteUsername : generation.remoteUsername)
        builder.addPriority(priority)
        switch role {
        case .controlling: builder.addControlling(tieBreaker: tieBreaker)
        case .controlled: builder.addControlled(tieBreaker: tieBreaker)
        }
        if usesCandidate { builder.addUseCandidate() }
        if isPrevious {
            builder.addMessageIntegrity(&previousGeneration.remoteKey)
        } else {
            builder.addMessageIntegrity(&generation.remoteKey)
        }
        builder.addFingerprint()
        return builder.finish()
    }
}
