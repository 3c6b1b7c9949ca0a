import Transport

/// Decides which of a camera's streams the path to one peer is for: the main one, or a smaller one.
///
/// The move down begins as soon as the limit is below what the present stream needs. The move up needs proof: a probe that
/// has shown the rate of the larger stream, and some more. Each move up that did not last makes the next one wait longer.
public struct StreamChoice: Sendable {
    /// What would be better than the present stream.
    public enum Wish: Sendable, Equatable {
        /// The path is too slow for the present stream.
        case smaller
        /// The path carries the larger stream.
        case larger
    }

    /// The share of the demand below which the limit asks for a smaller stream, and the one that has to be proven for a
    /// larger one.
    private static let share = (smaller: 0.9, larger: 1.15)
    /// A wish is repeated after this time, because nothing may have come of it.
    private static let repetition = Duration.seconds(2)
    /// The pause between a move down and the next move up: usually, and after one that did not last. It doubles each time.
    private static let pause = (usual: Duration.seconds(3), first: Duration.seconds(10), longest: Duration.seconds(60))
    /// The same for peers that no probe can be sent to. They have to try.
    private static let pauseWithoutProof = (first: Duration.seconds(20), longest: Duration.seconds(300))
    /// A move up has lasted when it was not taken back within this time.
    private static let lasting = Duration.seconds(20)

    /// What the larger stream needs, in bits a second; nil while the peer has the largest that it may have.
    public private(set) var larger: Double?
    private var wishedAt: Instant?
    private var notBefore = Instant.zero
    private var triesFrom = Instant.zero
    private var wentUpAt: Instant?
    /// When a move that had begun was asked to be taken back.
    private var turnedAt: Instant?
    /// How many moves up in a row did not last.
    public private(set) var failures = 0

    /// The peer has the largest stream that it may have.
    public init() {}

    /// What to probe for now, in bits a second.
    public func probed(at now: Instant) -> Double? { now >= notBefore ? larger : nil }

    /// What would be better now; nil if nothing would. Say so once: the next answer comes after a while.
    /// - Parameter demand: what the present stream needs, in bits a second.
    public mutating func takeWish(_ estimator: BandwidthEstimator, demand: Double, at now: Instant) -> Wish? {
        if let wishedAt, now - wishedAt < Self.repetition { return nil }
        guard let wish = wish(estimator, demand: demand, at: now) else { return nil }
        wishedAt = now
        return wish
    }

    private func wish(_ estimator: BandwidthEstimator, demand: Double, at now: Instant) -> Wish? {
        if let limit = estimator.limit(at: now) {
            return limit < demand * Self.share.smaller && !estimator.isOnTrial ? .smaller : nil
        }
        guard let larger, now >= notBefore else { return nil }
        let isProven = estimator.hasProven(larger * Self.share.larger, at: now)
        return isProven || !estimator.hasFeedback(at: now) && now >= triesFrom ? .larger : nil
    }

    /// What would be better now than a move that has begun, and that waits for a key frame; nil if it is still right. A move down
    /// ends when the path carries everything, and a move up when it does not carry the larger stream.
    /// - Parameter wish: what the move is for.
    public mutating func takeTurn(from wish: Wish, _ estimator: BandwidthEstimator, at now: Instant) -> Wish? {
        guard !isTurning(at: now) else { return nil }
        let limit = estimator.limit(at: now)
        switch wish {
        case .smaller:
            guard limit == nil else { return nil }
            turnedAt = now
            return .larger
        case .larger:
            guard let limit, let larger, limit < larger * Self.share.smaller, !estimator.isOnTrial else { return nil }
            turnedAt = now
            notBefore = now + Self.pause.usual
            triesFrom = now + Self.pauseWithoutProof.first
            return .smaller
        }
    }

    /// Whether a move has just been asked to be taken back, so that it must not be completed now.
    public func isTurning(at now: Instant) -> Bool { turnedAt.map { now - $0 < Self.repetition } ?? false }

    /// A move begins, or has been taken back.
    public mutating func recordMove() {
        if turnedAt != nil { wishedAt = nil }
        turnedAt = nil
    }

    /// The peer has got a smaller stream because of its path.
    /// - Parameter larger: what the stream before needs, in bits a second.
    public mutating func recordSmaller(than larger: Double, at now: Instant) {
        self.larger = larger
        if let wentUpAt, now - wentUpAt < Self.lasting { failures += 1 } else { failures = 0 }
        wentUpAt = nil
        wishedAt = nil
        let doubled = 1 << min(max(failures - 1, 0), 5)
        notBefore = now + (failures == 0 ? Self.pause.usual : min(Self.pause.first * doubled, Self.pause.longest))
        triesFrom = now + min(Self.pauseWithoutProof.first * (1 << min(failures, 5)), Self.pauseWithoutProof.longest)
    }

    /// The peer has got the larger stream.
    public mutating func recordLarger(at now: Instant) {
        larger = nil
        wishedAt = nil
        wentUpAt = now
    }
}
