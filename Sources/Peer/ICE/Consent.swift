import STUN
import Transport

/// Consent to send to the selected pair (RFC 7675): only authenticated responses refresh it. Media and the peer's own
/// checks do not.
struct Consent {
    /// How many unanswered checks are repeated early before the ordinary period applies again.
    private static let repetitions: UInt8 = 3

    private(set) var expires = Instant.distantFuture
    private(set) var nextCheck = Instant.distantFuture
    /// When the oldest check without a later response was sent; nil when the last one was answered.
    private(set) var unansweredSince: Instant?
    // The last checks, the newest first. "A response might be for a previous request" (RFC 7675, section 5.1).
    private var transactions = (STUNTransactionID?.none, STUNTransactionID?.none, STUNTransactionID?.none)
    private var lastSent = Instant.zero
    private var repeated: UInt8 = 0

    /// Begins consent for a pair that a response has just selected.
    mutating func begin(at now: Instant, timing: ICETiming, random: inout RandomSource) {
        self = Consent()
        refresh(at: now, timing: timing, random: &random)
    }

    private mutating func refresh(at now: Instant, timing: ICETiming, random: inout RandomSource) {
        expires = now + timing.consentLifetime
        nextCheck = now + Self.period(timing, &random)
        unansweredSince = nil
        repeated = 0
    }

    /// Records that a check was sent.
    ///
    /// RFC 7675 sends each check once and the next one 4 to 6 seconds later. With a fifth of the packets lost in each
    /// direction, six checks in a row go unanswered about once in half an hour, and a healthy session ends. So an
    /// unanswered check is repeated up to three times, a second apart, with a new transaction, as STUN would retransmit
    /// it. A path without loss sees the standard's rate.
    mutating func sent(_ id: STUNTransactionID, at now: Instant, timing: ICETiming, random: inout RandomSource) {
        transactions = (id, transactions.0, transactions.1)
        lastSent = now
        unansweredSince = unansweredSince ?? now
        if repeated < Self.repetitions {
            repeated += 1
            nextCheck = now + timing.consentRepetition
        } else {
            repeated = 0
            nextCheck = now + Self.period(timing, &random)
        }
    }

    /// Whether one of the last checks has this transaction.
    func awaits(_ id: STUNTransactionID) -> Bool {
        transactions.0 == id || transactions.1 == id || transactions.2 == id
    }

    /// Handles an authenticated response. Returns the round-trip time where it answers the newest check.
    mutating func answered(
        _ id: STUNTransactionID, at now: Instant, timing: ICETiming, random: inout RandomSource
    ) -> Duration? {
        let roundTripTime = transactions.0 == id ? now - lastSent : nil
        transactions = (nil, nil, nil)
        refresh(at: now, timing: timing, random: &random)
        return roundTripTime
    }

    /// Counts the checks in progress as lost.
    mutating func forgetTransactions() {
        transactions = (nil, nil, nil)
    }

    /// Whether a check has gone unanswered for so long that another pair is worth trying.
    func isOverdue(at now: Instant, timing: ICETiming) -> Bool {
        guard let unansweredSince else { return false }
        return now - unansweredSince >= timing.consentRepetition
    }

    /// Whether so many checks have gone unanswered that the peer may have left; see ``ICETiming/consentFreshness``.
    func isStale(at now: Instant, timing: ICETiming) -> Bool {
        guard let stale = staleness(timing) else { return false }
        return stale <= now
    }

    /// When so many checks will have gone unanswered; nil while the last one was answered.
    func staleness(_ timing: ICETiming) -> Instant? { unansweredSince.map { $0 + timing.consentFreshness } }

    /// Lets the next check go out now, and its repetitions after it, because the way to the peer has changed.
    mutating func beginAgain(at now: Instant) {
        nextCheck = min(nextCheck, now)
        repeated = 0
    }

    /// Lets the next check go out now, unless one was sent in the last second.
    mutating func hasten(at now: Instant, timing: ICETiming) {
        guard unansweredSince == nil, now - lastSent >= timing.consentRepetition else { return }
        nextCheck = min(nextCheck, now)
    }

    private static func period(_ timing: ICETiming, _ random: inout RandomSource) -> Duration {
        let base = timing.consentInterval.wholeNanoseconds
        return .nanoseconds(Int64.random(in: (base / 5 * 4)...(base / 5 * 6), using: &random))
    }
}
