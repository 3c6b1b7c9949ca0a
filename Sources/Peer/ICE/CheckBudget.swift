import Transport

/// How many connectivity checks a principal may make the gateway send to addresses that have never answered one.
///
/// A session description can name any address, and each costs its author one line of text. So such checks come out of a
/// budget that all sessions of a principal share. Neither a restart of ICE nor a new session renews it. It begins full
/// and refills over time.
///
/// A check on a pair that has answered before is free. So is a check that follows one of the peer's own: that one was
/// authenticated, and cost the peer a datagram, too. A viewer that sends checks therefore connects at full speed even
/// with an empty budget. An empty budget only delays checks to a silent viewer.
public struct CheckBudget: Sendable, BitwiseCopyable {
    /// The checks that a full budget pays for. Sixteen simultaneous viewers that name eight addresses each get their
    /// first checks at once.
    public static let capacity = 128
    /// How long the budget takes to regain one check.
    public static let refill = Duration.milliseconds(500)

    /// When the budget will be full again.
    private var fullAt = Instant.zero
    private let isUnlimited: Bool
    /// How many equal parts a budget has been divided into; this is one of them.
    private let parts: Int

    /// A full budget.
    public init() {
        self.init(parts: 1)
    }

    /// One of `parts` equal parts of a full budget, for as many threads: together they pay for as much as one budget.
    public init(parts: Int) {
        isUnlimited = false
        self.parts = Swift.min(Swift.max(parts, 1), Self.capacity)
    }

    private init(isUnlimited: Bool) {
        self.isUnlimited = isUnlimited
        parts = 1
    }

    /// An unlimited budget, for an agent whose peer is trusted.
    public static let unlimited = CheckBudget(isUnlimited: true)

    /// Pays for one check and returns nil, or returns the time at which it can.
    mutating func pay(at now: Instant) -> Instant? {
        if isUnlimited { return nil }
        let refill = Self.refill * parts
        let paid = max(fullAt, now) + refill
        let affordable = paid - refill * (Self.capacity / parts)
        guard affordable <= now else { return affordable }
        fullAt = paid
        return nil
    }

    /// Whether nothing of it is spent. Such a budget need not be kept.
    public func isFull(at now: Instant) -> Bool { fullAt <= now }
}
