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
    /// How often the rate is lowered because of a queue that does not become shorter, which is then the way, and by how much it
    /// would have to become shorter.
    private static let undrained = (decreases: 3, change: Duration.milliseconds(20))

    private var newest: [(roundTrip: Duration, at: Instant)] = []
    private var shortest: (now: Duration?, before: Duration?, since: Instant) = (nil, nil, .zero)

    /// The round trip with which the rate was lowered, and how often with about the same one.
    private var lowered: (roundTrip: Duration, decreases: Int)?

    /// The rate has been lowered because of a queue.
    /// - Parameter losesMore: whether more packets than usual are lost: then the queue is full, and it is one.
    mutating func recordDecrease(losesMore: Bool, at now: Instant) {
        guard !losesMore, let least = newest.map(\.roundTrip).min() else { return lowered = nil }
        guard let before = lowered, abs(least.inSeconds - before.roundTrip.inSeconds) <= Self.undrained.change.inSeconds
        else { return lowered = (least, 1) }
        lowered = (least, before.decreases + 1)
        guard before.decreases + 1 >= Self.undrained.decreases else { return }
        lowered = nil
        shortest = (least, nil, now)
    }

    /// Takes a round trip.
    mutating func record(_ roundTrip: Duration, at now: Instant) {
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
