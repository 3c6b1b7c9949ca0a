import Transport

/// How many packets of a sound its viewers lose lately: as many as the one with the worst path.
struct ExpectedLoss: Sendable {
    /// How long a report counts, at least: viewers report every few seconds.
    private static let memory = Duration.seconds(15)
    /// The most percent that are expected. What a viewer claims beyond that must not cost the others their quality, and
    /// redundancy for the packet before does not help against bursts anyway.
    private static let most = 25

    private var current = 0.0
    private var previous = 0.0
    private var began = Instant.zero

    /// Takes what a viewer reports: the share of the packets, 0 to 1.
    mutating func record(_ share: Double, at now: Instant) {
        forget(at: now)
        current = max(current, share)
    }

    /// In percent.
    mutating func percent(at now: Instant) -> Int {
        forget(at: now)
        return min(Int((max(current, previous) * 100).rounded()), Self.most)
    }

    private mutating func forget(at now: Instant) {
        guard now - began >= Self.memory else { return }
        previous = now - began < Self.memory * 2 ? current : 0
        current = 0
        began = now
    }
}
