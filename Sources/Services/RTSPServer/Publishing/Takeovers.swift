import Transport

/// When publishers last became cameras. Two programs that publish to the same camera, and come back whenever they are
/// replaced, would otherwise keep the gateway busy with nothing but that.
struct Takeovers {
    private var begun: [String: Instant] = [:]

    /// Notes that a publisher becomes a camera now, unless another one did less than `interval` ago.
    /// - Returns: when to ask again; nil if the publisher may begin.
    mutating func begin(_ device: String, interval: Duration, at now: Instant) -> Instant? {
        if let last = begun[device], now - last < interval { return last + interval }
        begun[device] = now
        return nil
    }

    /// Forgets the other cameras.
    mutating func keep(where isKept: (_ device: String) -> Bool) {
        begun = begun.filter { isKept($0.key) }
    }
}
