import Transport

/// The share of packets that are lost, over a window of time that closes when it has seen enough.
struct LossWindow: Sendable {
    /// A window that is complete.
    struct Measurement: Equatable, Sendable {
        /// The share of packets lost, 0 to 1.
        var share: Double
        /// How many packets it covers.
        var packets: Int
    }

    private var arrived = 0
    private var missing = 0
    private var since: Instant?

    /// Counts a packet that arrived; `wasMissing` if it was counted as missing before.
    mutating func recordArrival(wasMissing: Bool) {
        arrived += 1
        if wasMissing { missing = max(0, missing - 1) }
    }

    /// Counts a packet that did not arrive.
    mutating func recordMissing() { missing += 1 }

    /// The share so far.
    var share: Double { Double(missing) / Double(max(arrived + missing, 1)) }
    /// The packets so far.
    var packets: Int { arrived + missing }

    /// Closes the window if it covers `duration` and `packets`, or four times as long and a few packets.
    mutating func close(after duration: Duration, _ packets: Int, at now: Instant) -> Measurement? {
        guard let since else {
            self.since = now
            return nil
        }
        let elapsed = now - since
        guard elapsed >= duration, self.packets >= packets || elapsed >= duration * 4 && self.packets >= 8 else {
            return nil
        }
        defer { restart(at: now) }
        return Measurement(share: share, packets: self.packets)
    }

    /// Begins again.
    mutating func restart(at now: Instant) { self = LossWindow(since: now) }

    init(since: Instant? = nil) { self.since = since }
}
