import Transport

/// When publishers last took cameras over. Two programs that publish to the same camera, and come back whenever they are
/// replaced, would otherwise keep the gateway busy with nothing but that.
struct Takeovers {
    /// The least time between two publishers that take the same camera over.
    static let interval = Duration.seconds(1)

    private var last: [String: Instant] = [:]

    /// Records that a publisher takes a camera over now, unless another one did less than ``interval`` ago.
    /// - Returns: how long to wait before asking again; nil if the publisher may take it over.
    mutating func begin(_ device: String, at now: Instant) -> Duration? {
        // Only what still counts is kept.
        last = last.filter { now - $0.value < Self.interval }
        if let before = last[device] { return Self.interval - (now - before) }
        last[device] = now
        return nil
    }
}
