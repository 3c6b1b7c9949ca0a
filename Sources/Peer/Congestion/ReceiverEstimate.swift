import Transport

/// The receiver's own estimate (REMB, draft-alvestrand-rmcat-remb-03), which may say anything.
///
/// A receiver has seen no more of the path than it was sent, so its estimate is at most half as much again, and rises by about
/// 8 % a second (draft-ietf-rmcat-gcc-02, section 5.5). After a move to a larger stream it is therefore too low for many
/// seconds on any path. As long as it rises, it is not a limit. On a path that is too slow it falls, or stays as it is.
struct ReceiverEstimate: Sendable {
    /// How long it counts.
    private static let time = Duration.seconds(5)
    /// Within this time it has to rise again, by this factor at least. A fall by the other factor ends the rise at once.
    private static let climb = (patience: Duration.seconds(3), rise: 1.01, fall: 0.95)

    /// Bits a second, and when that was said; nil while it is not a limit.
    private var counting: (rate: Double, at: Instant)?
    private var newest: Double?
    /// The highest estimate since the peer got a larger stream, and when it rose last; nil when it has come to an end.
    private var climbing: (rate: Double, at: Instant)?

    /// What it limits the rate to; nil for nothing.
    func limit(at now: Instant) -> Double? { counting.flatMap { now - $0.at < Self.time ? $0.rate : nil } }

    /// Takes an estimate.
    /// - Parameter demand: what the peer's stream needs, in bits a second.
    mutating func record(_ rate: Double, demand: Double, at now: Instant) {
        newest = rate
        counting = nil
        guard rate < demand else {
            climbing = nil
            return
        }
        if let climb = climbing {
            if rate >= climb.rate * Self.climb.rise {
                climbing = (rate, now)
                return
            }
            if rate >= climb.rate * Self.climb.fall, now - climb.at < Self.climb.patience { return }
            climbing = nil
        }
        counting = (rate, now)
    }

    /// From now on the peer gets a larger stream.
    mutating func recordLargerStream(at now: Instant) {
        climbing = (newest ?? 0, now)
        counting = nil
    }

    /// Something better than this is known.
    mutating func setAside() { counting = nil }
}
