import Transport

/// How many connectivity checks somebody may make the gateway send to addresses that have never answered one.
///
/// A description names any address that it likes, and each costs its author one line of text. So such checks come out
/// of a budget that all sessions of a principal share, and that neither a restart of ICE nor a new session renews. It
/// begins full and fills up again over time.
///
/// Free are a check on a pair that has answered before, and a check that follows one of the peer's own: that one was
/// authenticated, and cost the peer a datagram too. A viewer that sends checks therefore connects as fast as ever with
/// an empty budget; what an empty budget delays is reaching out to a viewer that is silent.
public struct CheckBudget: Sendable, BitwiseCopyable {
    /// Checks that a full budget pays for. Sixteen views at once, each by a viewer that names eight addresses, get their
    /// first checks at once.
    public static let capacity = 128
    /// How long it takes until one more check is paid for.
    public static let refill = Duration.milliseconds(500)

    /// When the budget will be full again.
    private var fullAt = Instant.zero
    private let isUnlimited: Bool

    /// A full budget.
    public init() { isUnlimited = false }

    private init(isUnlimited: Bool) { self.isUnlimited = isUnlimited }

    /// A budget that never ends, for an agent whose peer is trusted.
    public static let unlimited = CheckBudget(isUnlimited: true)

    /// Pays for one check, or tells when it can. Nil when it is paid.
    mutating func pay(at now: Instant) -> Instant? {
        if isUnlimited { return nil }
        let paid = max(fullAt, now) + Self.refill
        let affordable = paid - Self.refill * Self.capacity
        guard affordable <= now else { return affordable }
        fullAt = paid
        return nil
    }

    /// Whether nothing of it is spent: then there is nothing to remember.
    public func isFull(at now: Instant) -> Bool { fullAt <= now }
}
