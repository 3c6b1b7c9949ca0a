import Transport

/// Finds a queue on the path by round trips, for peers that send no transport-wide feedback. An ICE check that follows the
/// media is answered after the media that was sent before it, so its round trip contains the queue.
struct RoundTripDetector: Sendable {
    /// A queue of this length is too long.
    private static let queue = Duration.milliseconds(60)
    /// The least of so many round trips counts: a peer that is busy answers late now and then.
    private static let leastOf = 3
    /// How long they may be apart, and how long the shortest is believed.
    private static let memory = (newest: Duration.seconds(1), shortest: Duration.seconds(20))

    private static let draining = Duration.milliseconds(500)

    private var newest: [(roundTrip: Duration, at: Instant)] = []
    private var shortest: (now: Duration?, before: Duration?, since: Instant) = (nil, nil, .zero)

    /// Takes a round trip.
    mutating func note(_ roundTrip: Duration, at now: Instant) {
        if now - shortest.since > Self.memory.shortest / 2 {
            shortest = (roundTrip, shortest.now, now)
        } else {
            shortest.now = min(shortest.now ?? roundTrip, roundTrip)
        }
        if newest.count == Self.leastOf { newest.removeFirst() }
        newest.append((roundTrip, now))
    }

    /// What the newest round trips show.
    /// - Parameter change: when the rate was changed last. The queue of before takes a moment to drain.
    func usage(since change: Instant, at now: Instant) -> PathUsage {
        let recent = newest.filter { now - $0.at <= Self.memory.newest && $0.at - change >= Self.draining }
        guard recent.count == Self.leastOf, let least = recent.map(\.roundTrip).min(),
            let base = [shortest.now, shortest.before].compactMap(\.self).min()
        else { return .normal }
        return least - base >= Self.queue ? .overuse : .normal
    }
}
