import STUN
import Transport

/// A candidate pair and the check on it.
struct CandidatePair {
    /// The state of a pair's check (RFC 8445, section 6.1.2.6).
    ///
    /// It has no Frozen state: with one component and one data stream that would only delay checks of candidates that
    /// share a foundation.
    enum Check: UInt8 {
        /// Due when the pacing allows.
        case waiting
        /// Due at once: the peer's own check came in, or the pair is being nominated.
        case triggered
        /// Sent; waiting for the response.
        case inProgress
        /// Answered.
        case succeeded
        /// Never answered.
        case failed
    }

    var remote: TransportAddress
    /// The address to send from: known once the peer's check or a response arrived at it.
    ///
    /// All local candidates share one socket, and the kernel chooses the source address by its routes. A candidate may
    /// also be the outside address of a NAT, which no interface has. So each remote candidate gets one pair instead of
    /// one for each combination, until a datagram shows which local address the peer reaches.
    var local: TransportAddress?
    var remotePriority: UInt32
    /// What kind of candidate the peer named at the address; peer-reflexive where it named none.
    var remoteType = ICECandidateType.peerReflexive
    var check = Check.waiting
    /// Whether a check on this pair was answered in this generation.
    var isValid = false
    /// Controlling: the next check carries USE-CANDIDATE. Controlled: the peer nominated the pair.
    var wantsNomination = false
    /// Whether the check in progress carries USE-CANDIDATE.
    var carriesNomination = false
    /// Whether the address has answered a check of this generation.
    var hasAnswered = false
    /// Whether an authenticated check has come from the address.
    var wasHeard = false
    /// Whether a check by the peer has come in since the last check was sent.
    var isPaidByPeer = false
    var transmissions: UInt8 = 0
    var transactionID = STUNTransactionID(high: 0, low: 0)
    var firstSent = Instant.zero
    var lastSent = Instant.zero
    /// In progress: when the check is sent again or fails.
    var deadline = Instant.zero
    var lastResponse = Instant.zero

    init(remote: TransportAddress, local: TransportAddress?, remotePriority: UInt32) {
        self.remote = remote
        self.local = local
        self.remotePriority = remotePriority
    }

    /// How the two ends reach each other by this pair.
    var pathKind: ICEPathKind { ICEPathKind(remote: remote, remoteType: remoteType, local: local) }

    var path: ICEPath { ICEPath(remote: remote, local: local) }

    /// Whether the next check is free of the budget; see ``CheckBudget``.
    var isFree: Bool { hasAnswered || isPaidByPeer }

    /// Whether nothing has ever come from the address, so that it may belong to anyone.
    var isSilent: Bool { !hasAnswered && !wasHeard }

    /// Whether the check has no result yet.
    var isUndecided: Bool { check == .waiting || check == .triggered || check == .inProgress }
}
