import STUN
import Transport

/// A way to the peer and the check on it.
struct CandidatePair {
    /// Where the check of a pair stands (RFC 8445, section 6.1.2.6).
    ///
    /// There is no Frozen: with one component and one data stream it would only delay checks of candidates that share
    /// a foundation.
    enum Check: UInt8 {
        /// To be sent when the pacing allows.
        case waiting
        /// To be sent at once: the peer's own check came in, or the pair is being nominated.
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
    /// All local candidates share one socket, whose kernel chooses the source by its routes, and a candidate may be
    /// the outside address of a NAT that no interface has. So there is one pair for each remote candidate and not one
    /// for each combination, until a datagram tells which local address the peer reaches.
    var local: TransportAddress?
    var remotePriority: UInt32
    var check = Check.waiting
    /// Whether a check on this pair was answered in this generation.
    var isValid = false
    /// Controlling: the next check is to carry USE-CANDIDATE. Controlled: the peer nominated the pair.
    var wantsNomination = false
    /// Whether the check under way carries USE-CANDIDATE.
    var carriesNomination = false
    /// Whether the address has answered a check of this generation.
    var hasAnswered = false
    /// Whether an authenticated check has come from the address.
    var wasHeard = false
    /// Whether the peer's own check came in since the last one was sent.
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

    var path: ICEPath { ICEPath(remote: remote, local: local) }

    /// Whether the next check costs nothing of the budget; see ``CheckBudget``.
    var isFree: Bool { hasAnswered || isPaidByPeer }

    /// Whether nothing has ever come from the address, so that it may be anybody's.
    var isSilent: Bool { !hasAnswered && !wasHeard }

    /// Whether the check is still to bring a result.
    var isUndecided: Bool { check == .waiting || check == .triggered || check == .inProgress }
}
