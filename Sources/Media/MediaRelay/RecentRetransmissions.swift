import Transport

/// The newest retransmissions to one viewer: so that one loss is not answered twice within a round trip, and so that an
/// answer that was lost as well is noticed.
struct RecentRetransmissions {
    private struct Entry {
        var index: UInt64
        var at: Instant
        /// How many of them may still arrive, by what is known.
        var copies: Int
        /// Whether nobody had missed the packet yet. A request for it is answered nevertheless: a browser asks at once when
        /// it sees a gap, and again only after 100 ms.
        var isPrecaution: Bool
    }

    /// Feedback on a packet comes within a quarter of a second and a round trip.
    private static let memory = Duration.milliseconds(600)
    private static let capacity = 256

    private var entries: [Entry] = []

    /// Forgets what is older than feedback can be.
    mutating func forgetOld(at now: Instant) {
        entries.removeAll { now - $0.at >= Self.memory }
    }

    /// How many packets that were missed went out again within the last `time`.
    func count(within time: Duration, of now: Instant) -> Int {
        entries.count { !$0.isPrecaution && now - $0.at < time }
    }

    /// Whether the packet, after it was missed, went out again within the last `time`.
    func contains(_ index: UInt64, within time: Duration, of now: Instant) -> Bool {
        entries.contains { $0.index == index && !$0.isPrecaution && now - $0.at < time }
    }

    /// Whether the packet went out again lately.
    func contains(_ index: UInt64) -> Bool { entries.contains { $0.index == index } }

    /// The packet has gone out again.
    mutating func noteSent(_ index: UInt64, asPrecaution isPrecaution: Bool, at now: Instant) {
        entries.removeAll { $0.index == index }
        if entries.count >= Self.capacity { entries.removeFirst() }
        entries.append(Entry(index: index, at: now, copies: 1, isPrecaution: isPrecaution))
    }

    /// Whether the packet went out again at `now` and once only.
    func wasSentOnce(_ index: UInt64, at now: Instant) -> Bool {
        entries.contains { $0.index == index && $0.at == now && $0.copies == 1 }
    }

    /// The packet has gone out once more at the same time.
    mutating func noteCopy(_ index: UInt64) {
        guard let position = entries.firstIndex(where: { $0.index == index }) else { return }
        entries[position].copies += 1
    }

    /// A copy of the packet has arrived: the others are of no interest.
    mutating func noteArrived(_ index: UInt64) {
        guard let position = entries.firstIndex(where: { $0.index == index }) else { return }
        entries[position].copies = .max
    }

    /// A copy of the packet was lost. Answers whether it was the last one that could have arrived.
    mutating func noteLost(_ index: UInt64) -> Bool {
        guard let position = entries.firstIndex(where: { $0.index == index }), entries[position].copies != .max else {
            return false
        }
        entries[position].copies -= 1
        return entries[position].copies == 0
    }
}
