import STUN
import Transport

extension ICEAgent {
    /// Handles a STUN datagram (``STUN/isSTUN(firstByte:)``). A datagram that does not authenticate changes only
    /// ``counters``.
    ///
    /// - Parameters:
    ///   - datagram: the bytes; they are not kept.
    ///   - source: where it came from.
    ///   - local: the own address that it was sent to; an unspecified one where the socket does not know it.
    ///   - now: the time of arrival.
    @discardableResult
    public mutating func handle(
        _ datagram: UnsafeRawBufferPointer, from source: TransportAddress, to local: TransportAddress, at now: Instant
    ) -> ICEDatagramResult {
        expectDrained(isDrained)
        advance(to: now)
        let message: STUNMessage
        do {
            message = try STUNMessage(parsing: datagram)
        } catch {
            counters.malformed &+= 1
            return .ignored(.malformed(error))
        }
        guard message.method == STUNMessage.bindingMethod else {
            counters.malformed &+= 1
            return .ignored(.unknownMethod)
        }
        // Every check and every answer carries FINGERPRINT (RFC 8445, section 7.1.5).
        guard message.hasValidFingerprint else {
            counters.unauthenticated &+= 1
            return .ignored(.wrongFingerprint)
        }
        let known = local.isUnspecified ? nil : local
        switch message.messageClass {
        case .indication: return .indication
        case .request: return handleRequest(message, from: source, to: known)
        case .successResponse, .errorResponse: return handleResponse(message, from: source, to: known)
        }
    }

    // MARK: - The peer's checks (RFC 8445, section 7.3)

    private mutating func handleRequest(
        _ message: STUNMessage, from source: TransportAddress, to local: TransportAddress?
    ) -> ICEDatagramResult {
        guard let isPrevious = authenticate(message) else {
            counters.unauthenticated &+= 1
            return .ignored(.unauthenticated)
        }
        guard isInReach(source) else {
            counters.filteredCandidates &+= 1
            return .ignored(.outOfReach)
        }
        guard state == .checking || state == .connected else { return .ignored(.inactive) }
        var response = PendingResponse(
            transactionID: message.transactionID, destination: source, source: local, errorCode: 0,
            isFromPreviousGeneration: isPrevious)
        if let unknown = message.firstUnknownRequiredAttribute {
            response.errorCode = STUNErrorCode.unknownAttribute
            response.unknownAttribute = unknown
        } else if !isPrevious, hasRoleConflict(with: message) {
            response.errorCode = STUNErrorCode.roleConflict
        }
        guard responses.count < ICELimits.responses else {
            counters.dropped &+= 1
            return .request
        }
        responses.append(response)
        if response.errorCode == 0, !isPrevious {
            learn(from: message, source: source, local: local)
        }
        return .request
    }

    /// Whether the request belongs to the previous generation; nil when it belongs to none, or its integrity is wrong.
    ///
    /// A browser that restarts may check its new addresses with our old credentials, before it knows the new ones. Such
    /// a request belongs to no generation. If it were answered, Chromium would keep that pair, and refuse our checks on
    /// it for as long as the pair lives.
    private mutating func authenticate(_ message: STUNMessage) -> Bool? {
        guard let username = message.username else { return nil }
        if generation.isAddressed(by: username) {
            return message.hasValidIntegrity(&generation.localKey) ? false : nil
        }
        if previousGeneration.isAddressedByItsPeer(username) {
            return message.hasValidIntegrity(&previousGeneration.localKey) ? true : nil
        }
        return nil
    }

    /// RFC 8445, section 7.3.1.1: true when the request must be refused. Changes the own role where that resolves the
    /// conflict.
    private mutating func hasRoleConflict(with message: STUNMessage) -> Bool {
        switch role {
        case .controlling:
            guard let other = message.controllingTieBreaker else { return false }
            counters.roleConflicts &+= 1
            // A lite peer does not decide: it never sends requests, so this is not a check of its own.
            if tieBreaker >= other || remoteIsLite { return true }
            switchRole(to: .controlled)
            return false
        case .controlled:
            guard let other = message.controlledTieBreaker else { return false }
            counters.roleConflicts &+= 1
            if tieBreaker < other { return true }
            switchRole(to: .controlling)
            return false
        }
    }

    mutating func switchRole(to newRole: ICERole) {
        role = newRole
        for index in pairs.indices {
            // A request states its sender's role, so a check in progress begins again: at once where the peer has
            // answered, otherwise in its turn. One conflict must not trigger a check to every address that the peer
            // named.
            if pairs[index].check == .inProgress { pairs[index].check = pairs[index].isFree ? .triggered : .waiting }
            pairs[index].wantsNomination = false
        }
        nominationDue = nil
        // A late refusal of a consent check with the old role must not switch the role back.
        consent.forgetTransactions()
        evaluateNomination()
    }

    /// Learns the peer's address and answers its check with one of the agent's own.
    private mutating func learn(from message: STUNMessage, source: TransportAddress, local: TransportAddress?) {
        let nominates = message.usesCandidate && role == .controlled
        if let selected, !selected.isFromPreviousGeneration {
            // The steady state: a consent check by the peer on the pair in use.
            if selected.path.remote == source, isSame(selected.path.local, local) { return }
            // Checks on other pairs are only answered, so the peer can keep them in reserve. More happens only if the
            // peer nominates one or the pair in use has fallen silent.
            guard nominates || consent.isOverdue(at: now, timing: timing) else { return }
        }
        guard let index = pairIndex(remote: source, local: local, priority: message.priority) else {
            counters.dropped &+= 1
            return
        }
        if pairs[index].local == nil { pairs[index].local = local }
        pairs[index].wasHeard = true
        if nominates { pairs[index].wantsNomination = true }
        switch pairs[index].check {
        case .waiting, .failed:
            pairs[index].check = .triggered
        case .triggered:
            break
        case .inProgress:
            // The peer did not receive the check, or the agent did not receive the response. Send it once more, with
            // the same transaction.
            if now - pairs[index].lastSent >= ICELimits.triggeredRepetition {
                pairs[index].deadline = now
                pairs[index].isPaidByPeer = true
            }
        case .succeeded:
            if nominates {
                // An answer that is older than a consent period does not prove that the pair still works.
                if now - pairs[index].lastResponse <= timing.consentInterval {
                    acceptNomination(index)
                } else {
                    pairs[index].check = .triggered
                }
            } else if selected != nil {
                pairs[index].check = .triggered
            }
        }
    }

    /// The pair of these addresses; a new one where none exists, with a peer-reflexive candidate unless the peer has named the
    /// address (RFC 8445, section 7.3.1.3).
    private mutating func pairIndex(remote: TransportAddress, local: TransportAddress?, priority: UInt32?) -> Int? {
        if let exact = pairs.firstIndex(where: { $0.remote == remote && $0.local != nil && isSame($0.local, local) }) {
            return exact
        }
        if let open = pairs.firstIndex(where: { $0.remote == remote && $0.local == nil }) { return open }
        let named = remoteCandidates.first { $0.address == remote.by(.direct) && remote.route != .tcp }
        // A request must carry PRIORITY. If it does not, the pair is the least wanted one.
        var pair = CandidatePair(remote: remote, local: local, remotePriority: named?.priority ?? priority ?? 0)
        if let named { pair.remoteType = named.type }
        let inUse = selectedPairIndex
        let nominated = pairs.firstIndex(where: { $0.carriesNomination && $0.check == .inProgress })
        let kept = [inUse, nominated].compactMap { $0 }.map { pairs[$0].transactionID }
        // An authenticated check outranks every candidate that was only named.
        return insert(
            pair, isProven: true,
            evicting: { $0.check == .failed || !kept.contains($0.transactionID) && !$0.isValid })
    }

    func isSame(_ one: TransportAddress?, _ other: TransportAddress?) -> Bool {
        guard let one, let other else { return true }
        return one.hasSameHost(as: other)
    }

    // MARK: - Answers to the agent's checks (RFC 8445, section 7.2.5)

    private mutating func handleResponse(
        _ message: STUNMessage, from source: TransportAddress, to local: TransportAddress?
    ) -> ICEDatagramResult {
        let id = message.transactionID
        if let path = selected?.path, probes.awaits(id) {
            guard path.remote == source else { return ignoreUnknownTransaction() }
            guard isFromSelectedPeer(message) else { return ignoreUnauthenticated() }
            if message.messageClass == .successResponse {
                roundTripTime = probes.answered(id, at: now) ?? roundTripTime
            }
            return .response
        }
        if let path = selected?.path, consent.awaits(id) {
            guard path.remote == source else { return ignoreUnknownTransaction() }
            guard isFromSelectedPeer(message) else { return ignoreUnauthenticated() }
            if message.messageClass == .successResponse {
                roundTripTime =
                    consent.answered(id, at: now, timing: timing, random: &random) ?? roundTripTime
                recordAnswer(from: source)
            } else if message.errorCode == STUNErrorCode.roleConflict {
                counters.roleConflicts &+= 1
                switchRole(to: role == .controlling ? .controlled : .controlling)
            }
            return .response
        }
        guard let index = pairs.firstIndex(where: { $0.transactionID == id && $0.check == .inProgress }) else {
            return ignoreUnknownTransaction()
        }
        // The response must come from where the request went, and arrive where it left (section 7.2.5.2.1). A mismatch
        // does not affect the check: the right response may still come.
        guard pairs[index].remote == source, isSame(pairs[index].local, local) else {
            return ignoreUnknownTransaction()
        }
        guard message.hasValidIntegrity(&generation.remoteKey) else { return ignoreUnauthenticated() }
        if message.messageClass == .successResponse {
            checkSucceeded(index, local: local)
        } else {
            checkRefused(index, code: message.errorCode)
        }
        return .response
    }

    /// Whether the integrity of a response is that of the generation which selected the pair in use.
    private mutating func isFromSelectedPeer(_ message: STUNMessage) -> Bool {
        selected?.isFromPreviousGeneration == true
            ? message.hasValidIntegrity(&previousGeneration.remoteKey)
            : message.hasValidIntegrity(&generation.remoteKey)
    }

    private mutating func ignoreUnknownTransaction() -> ICEDatagramResult {
        counters.unknownTransactions &+= 1
        return .ignored(.unknownTransaction)
    }

    private mutating func ignoreUnauthenticated() -> ICEDatagramResult {
        counters.unauthenticated &+= 1
        return .ignored(.unauthenticated)
    }

    private mutating func checkSucceeded(_ index: Int, local: TransportAddress?) {
        pairs[index].check = .succeeded
        pairs[index].isValid = true
        pairs[index].hasAnswered = true
        pairs[index].lastResponse = now
        recordAnswer(from: pairs[index].remote)
        if pairs[index].local == nil { pairs[index].local = local }
        // If a check was sent several times, it is unknown which transmission was answered (Karn's rule).
        if pairs[index].transmissions == 1 { roundTripTime = now - pairs[index].firstSent }
        switch role {
        case .controlling where pairs[index].carriesNomination, .controlled where pairs[index].wantsNomination:
            acceptNomination(index)
        case .controlling, .controlled:
            evaluateNomination()
        }
    }

    private mutating func checkRefused(_ index: Int, code: UInt16?) {
        if code == STUNErrorCode.roleConflict {
            counters.roleConflicts &+= 1
            // A peer that refuses either role could keep this up forever.
            pairs[index].check = counters.roleConflicts < ICELimits.roleConflicts ? .triggered : .failed
            if !remoteIsLite { switchRole(to: role == .controlling ? .controlled : .controlling) }
            return
        }
        pairs[index].check = .failed
        pairs[index].isValid = false
        evaluateNomination()
        evaluateFailure()
    }
}
