import Transport

/// Turns the arrivals of packets into one delay for each group of packets that left together.
///
/// The delay is the arrival on the peer's clock minus the departure on ours, so only its changes mean anything.
///
/// Deviation from draft-ietf-rmcat-gcc-02, section 5.2, which takes the last packet of a group: a group's delay is the
/// shortest of its packets'. A camera's frame leaves at once, so that its last packet shows how large the frame is. The
/// first one shows the queue that it found, which is what counts, and packets that are held back on the way show nothing.
struct ArrivalGroups: Sendable {
    /// A group that is complete.
    struct Group: Equatable {
        /// When its first packet left.
        var sentAt: Instant
        /// The shortest delay of its packets, in milliseconds.
        var delay: Double
    }

    /// What leaves within this time of a group's first packet belongs to the group (section 5.2).
    private static let span = Duration.milliseconds(5)
    /// A longer step of the delay is a peer that set its clock, or that makes its reports up.
    private static let longestStep = 10_000.0

    private var current: Group?

    /// The delay of a packet in milliseconds.
    static func delay(sentAt: Instant, arrival: Int64) -> Double {
        Double(arrival) * 0.25 - Double(sentAt.nanoseconds) / 1_000_000
    }

    /// Takes the arrival of a packet, in units of 250 µs on the peer's clock.
    /// - Returns: the group before it, if the packet begins another one; `restarts` when the delay has stepped so far that
    ///   nothing before can be compared with it.
    mutating func record(sentAt: Instant, arrival: Int64) -> (group: Group?, restarts: Bool) {
        let delay = Self.delay(sentAt: sentAt, arrival: arrival)
        guard let group = current else {
            current = Group(sentAt: sentAt, delay: delay)
            return (nil, false)
        }
        if abs(delay - group.delay) > Self.longestStep {
            current = Group(sentAt: sentAt, delay: delay)
            return (nil, true)
        }
        // One of an earlier group has been overtaken.
        if sentAt < group.sentAt { return (nil, false) }
        if sentAt - group.sentAt <= Self.span {
            current?.delay = min(group.delay, delay)
            return (nil, false)
        }
        current = Group(sentAt: sentAt, delay: delay)
        return (group, false)
    }
}
