import Transport

/// How much may leave to one peer: one budget for everything. Sound takes from it without asking, then come repairs, then
/// new pictures, and probes last.
///
/// While the rate is limited, it is a bucket that fills with the limit. Otherwise new pictures need none. Repairs then get
/// a share of what is sent, because requests cost the peer nothing, but they use the gateway's uplink.
public struct RateBudget: Sendable {
    /// How many bytes of repairs each byte sent allows while the rate has no limit. A path that loses many packets at random
    /// loses requests too, so it gets more; while loss has just become heavy, it gets less. If half of all packets are lost,
    /// each takes three transmissions, and nobody watches such a picture.
    static let share = (usual: 0.5, lossy: 2.0, sudden: 0.3)
    /// The least credit for repairs in bytes that can be saved up. With little motion a camera sends a few kilobytes a second,
    /// and a key frame among them has to be repaired at once.
    static let leastCapacity = 64.0 * 1024
    /// The most while loss has suddenly become heavy: some packets. What was saved up would all be spent in a moment, on a line
    /// that may have no room for it.
    static let suddenCapacity = 12_000.0
    /// How long the bucket takes to fill: one turn and a late wake-up; but a packet always fits.
    private static let depth = (time: 0.03, least: 1_500.0)
    /// How far repairs may run ahead of the limit, in seconds. They go before new packets, because a picture with a hole
    /// makes all later ones useless.
    private static let repairAdvance = 0.3
    /// How far sound may. A limit below the rate of the sound alone must not keep pictures away for ever.
    private static let soundAdvance = 1.0
    /// The size of a packet on the wire, in bytes, as far as it matters here.
    private static let packet = 1_228.0

    /// Bytes a second; nil while there is no limit.
    private var rate: Double?
    private var credit = 0.0
    private var filledAt = Instant.zero
    /// What may be repaired while there is no limit.
    private(set) var repairCredit = 0.0
    /// How many sent bytes have been credited so far.
    private var credited: UInt64 = 0

    /// What a path loses, as far as it matters for repairs.
    public enum Losses: Sendable {
        /// Not much.
        case usual
        /// Much more than just before. It is not known yet whether there is still room for repairs.
        case sudden
        /// Many packets at random.
        case lossy
    }

    /// Nothing is limited.
    public init() {}

    /// Whether less than everything may leave.
    public var isLimited: Bool { rate != nil }

    /// Takes the limit, in bits a second with all headers; nil for none.
    public mutating func setLimit(_ bitsPerSecond: Double?, at now: Instant) {
        guard let bitsPerSecond else {
            rate = nil
            return
        }
        if rate == nil { (credit, filledAt) = (0, now) } else { fill(at: now) }
        rate = bitsPerSecond / 8
    }

    private mutating func fill(at now: Instant) {
        guard let rate else { return }
        credit = min(credit + rate * (now - filledAt).inSeconds, max(rate * Self.depth.time, Self.depth.least))
        filledAt = now
    }

    /// How many packets of new pictures may leave now, while the rate is limited.
    public mutating func packets(at now: Instant) -> Int {
        fill(at: now)
        return credit > 0 ? Int(credit / Self.packet) + 1 : 0
    }

    /// Deducts what has been sent.
    public mutating func spend(datagrams: Int, bytes: Int) {
        guard let rate else { return }
        credit -= Double(bytes + datagrams * BandwidthEstimator.headerBytes)
        credit = max(credit, -rate * Self.soundAdvance)
    }

    /// Adds credit for repairs.
    /// - Parameters:
    ///   - bytesSent: what has been sent to the peer so far, without repairs, always on the same tracks. A total below an
    ///     earlier one earns nothing, and neither does what brings it back to that.
    ///   - recentBytes: what these tracks brought, each in its busiest second among the last two.
    ///   - path: what is lost there.
    public mutating func earn(bytesSent: UInt64, recentBytes: UInt64, _ path: Losses) {
        let (share, most) =
            switch path {
            case .usual: (Self.share.usual, Self.capacity(recentBytes: recentBytes, isLossy: false))
            case .sudden: (Self.share.sudden, Self.suddenCapacity)
            case .lossy: (Self.share.lossy, Self.capacity(recentBytes: recentBytes, isLossy: true))
            }
        let earned = bytesSent > credited ? Double(bytesSent - credited) * share : 0
        credited = max(credited, bytesSent)
        repairCredit = min(repairCredit + earned, most)
    }

    /// The most credit for repairs in bytes that can be saved up: the share of a second.
    public static func capacity(recentBytes: UInt64, isLossy: Bool) -> Double {
        max(leastCapacity, Double(recentBytes) * (isLossy ? share.lossy : share.usual))
    }

    /// Whether a repair of `bytes` may leave now. While the rate is limited, it is deducted when it is sent.
    public mutating func takeForRepair(_ bytes: Int, at now: Instant) -> Bool {
        guard bytes >= 0 else { return false }
        if let rate {
            fill(at: now)
            return credit > -rate * Self.repairAdvance
        }
        guard Double(bytes) <= repairCredit else { return false }
        repairCredit -= Double(bytes)
        return true
    }

    /// Takes back what was deducted for a repair that has not left after all.
    /// - Parameters:
    ///   - bytes: what ``takeForRepair(_:at:)`` has allowed.
    ///   - spent: what ``spend(datagrams:bytes:)`` has deducted for its datagram, in bytes, if the rate is limited.
    public mutating func giveBack(repair bytes: Int, spent: Int) {
        if rate == nil {
            repairCredit += Double(bytes)
        } else {
            credit += Double(spent + BandwidthEstimator.headerBytes)
        }
    }
}
