import Transport

/// The newest retransmissions to one viewer. With them the gateway does not repair a loss twice within a round trip,
/// and notices when a repair was lost too.
struct RecentRetransmissions {
    private struct Entry {
        var index: UInt64
        var at: Instant
        /// How many copies may still arrive.
        var copies: Int
        /// Whether the packet had not been reported lost yet. A request for it is answered anyway, because a browser
        /// asks at once when it sees a gap, and again only after 100 ms.
        var isPrecaution: Bool
    }

    /// Feedback on a packet comes within a quarter of a second and a round trip.
    private static let memory = Duration.milliseconds(600)
    private static let capacity = 256

    private var entries: [Entry] = []

    /// Removes what is older than any feedback can be.
    mutating func forgetOld(at now: Instant) {
        entries.removeAll { now - $0.at >= Self.memory }
    }

    /// How many packets that were reported lost have been retransmitted within the last `time`.
    func count(within time: Duration, of now: Instant) -> Int {
        entries.count { !$0.isPrecaution && now - $0.at < time }
    }

    /// Whether the packet was reported lost and retransmitted within the last `time`.
    func contains(_ index: UInt64, within time: Duration, of now: Instant) -> Bool {
        entries.contains { $0.index == index && !$0.isPrecaution && now - $0.at < time }
    }

    /// Whether the packet was retransmitted recently.
    func contains(_ index: UInt64) -> Bool { entries.contains { $0.index == index } }

    /// Records that the packet was retransmitted.
    mutating func recordSent(_ index: UInt64, asPrecaution isPrecaution: Bool, at now: Instant) {
        entries.removeAll { $0.index == index }
        if entries.count >= Self.capacity { entries.removeFirst() }
        entries.append(Entry(index: index, at: now, copies: 1, isPrecaution: isPrecaution))
    }

    /// Whether the packet was retransmitted at `now`, and only once.
    func wasSentOnce(_ index: UInt64, at now: Instant) -> Bool {
        entries.contains { $0.index == index && $0.at == now && $0.copies == 1 }
    }

    /// Records another copy, sent at the same time.
    mutating func recordCopy(_ index: UInt64) {
        guard let position = entries.firstIndex(where: { $0.index == index }) else { return }
        entries[position].copies += 1
    }

    /// Records that a copy arrived. The other copies no longer matter.
    mutating func recordArrived(_ index: UInt64) {
        guard let position = entries.firstIndex(where: { $0.index == index }) else { return }
        entries[position].copies = .max
    }

    /// Records that a copy was lost. Returns whether it was the last copy that could have arrived.
    mutating func recordLost(_ index: UInt64) -> Bool {
        guard let position = entries.firstIndex(where: { $0.index == index }), entries[position].copies != .max else {
            return false
        }
        entries[position].copies -= 1
        return entries[position].copies == 0
    }
}
