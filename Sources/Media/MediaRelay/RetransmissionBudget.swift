/// How much may be retransmitted to one viewer: two bytes for each byte of the stream itself.
///
/// Requests cost the viewer nothing, but they use the gateway's uplink. What goes into a path that is too slow for the
/// stream comes back as further requests. Random loss never needs that much: if half of all packets are lost, requests
/// included, each takes three retransmissions, and nobody watches such a picture.
///
/// The credit comes from what was sent, so no rate has to be estimated. Over any time, the retransmissions are at most
/// twice the stream plus one ``capacity(recentBytes:)``.
struct RetransmissionBudget {
    /// Bytes that may be retransmitted for each byte sent.
    static let share: UInt64 = 2
    /// The least capacity in bytes. With little motion a camera sends a few kilobytes per second, and a key frame among
    /// them has to be repaired at once.
    static let leastCapacity: UInt64 = 64 * 1024

    private(set) var credit: UInt64 = 0
    /// How many sent bytes have been credited so far.
    private var credited: UInt64 = 0

    /// The most credit in bytes that a viewer can save up: twice the bytes of the track's busiest second among the last
    /// two.
    static func capacity(recentBytes: UInt64) -> UInt64 {
        max(leastCapacity, recentBytes &* share)
    }

    /// Adds credit for what has been sent since the last call.
    /// - Parameters:
    ///   - bytesSent: The payload bytes sent to the viewer so far.
    ///   - recentBytes: The track's bytes in its busiest second among the last two.
    mutating func refill(bytesSent: UInt64, recentBytes: UInt64) {
        credit += (bytesSent &- credited) &* Self.share
        credited = bytesSent
        credit = min(credit, Self.capacity(recentBytes: recentBytes))
    }

    /// Deducts `bytes`. Returns false, and deducts nothing, if there are fewer.
    mutating func take(_ bytes: Int) -> Bool {
        guard let bytes = UInt64(exactly: bytes), bytes <= credit else { return false }
        credit -= bytes
        return true
    }
}
