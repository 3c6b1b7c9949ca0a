/// How much may be sent again to one viewer: two bytes for each byte of the stream itself.
///
/// A viewer's requests are free for it and cost the gateway's line, and what goes into a line that is too slow for the
/// stream comes back as further requests. Independent loss never needs that much: one half of all packets lost, requests
/// included, takes three retransmissions of each, and nobody watches such a picture.
///
/// The credit comes from what was sent, so that no rate has to be estimated: over any time the retransmissions are at most
/// twice the stream and one ``capacity(recentBytes:)``.
struct RetransmissionBudget {
    /// Bytes that may be sent again for each byte sent.
    static let share: UInt64 = 2
    /// The least capacity in bytes: with little motion a camera sends a few kilobytes a second, and a key frame among them
    /// has to be repaired at once.
    static let leastCapacity: UInt64 = 64 * 1024

    private(set) var credit: UInt64 = 0
    /// How many sent bytes have given credit so far.
    private var credited: UInt64 = 0

    /// The most credit in bytes that a viewer can save up: twice what the track brought in its busiest second of the last two.
    static func capacity(recentBytes: UInt64) -> UInt64 {
        max(leastCapacity, recentBytes &* share)
    }

    /// Gives credit for what has been sent since the last call.
    /// - Parameters:
    ///   - bytesSent: The payload bytes sent to the viewer so far.
    ///   - recentBytes: The track's bytes in its busiest second of the last two.
    mutating func refill(bytesSent: UInt64, recentBytes: UInt64) {
        credit += (bytesSent &- credited) &* Self.share
        credited = bytesSent
        credit = min(credit, Self.capacity(recentBytes: recentBytes))
    }

    /// Takes `bytes` out. False, and nothing taken, where there are fewer.
    mutating func take(_ bytes: Int) -> Bool {
        guard let bytes = UInt64(exactly: bytes), bytes <= credit else { return false }
        credit -= bytes
        return true
    }
}
