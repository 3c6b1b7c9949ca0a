import Transport

/// Notices, before the reason is known, that much more is being lost than a moment ago.
///
/// A line that has become too slow begins like that, and so does a bad radio link. Until the difference is known, repairs
/// must not make it worse: on a line without room, each one takes the place of a packet that would have arrived.
struct SuddenLoss: Sendable {
    /// By how much the share of loss has to rise, besides so many standard deviations of chance, and below which rise it is
    /// over. A radio link that has become bad needs its repairs at once: it loses a fifth, hardly more.
    private static let rise = (begin: 0.2, deviations: 2.0, end: 0.25)
    /// The fewest packets that show it.
    private static let leastPackets = 20
    /// After this time it is not sudden any more: it is what the path loses.
    private static let longest = Duration.milliseconds(1_500)

    /// The share that the path loses usually, 0 to 1; nil before the first complete window.
    private(set) var usual: Double?
    /// Since when much more is lost; nil while it is not.
    private(set) var since: Instant?

    /// Looks at a window of loss that may not be complete.
    mutating func record(_ window: LossWindow, at now: Instant) {
        guard since == nil, let usual, window.packets >= Self.leastPackets else { return }
        let likely = min(usual + Self.rise.begin, 1)
        let chance = (likely * (1 - likely) / Double(window.packets)).squareRoot()
        if window.share >= likely + Self.rise.deviations * chance { since = now }
    }

    /// Takes a complete window.
    mutating func record(_ measured: LossWindow.Measurement, at now: Instant) {
        if let since, let usual, measured.share >= usual + Self.rise.end, now - since < Self.longest { return }
        // After a sudden loss, what is lost now is what the path loses.
        let before = since == nil ? usual : nil
        since = nil
        usual = before.map { $0 + (measured.share - $0) / 4 } ?? measured.share
    }

    /// The rate has been limited: what is lost from now on has other reasons.
    mutating func end() { since = nil }
}
