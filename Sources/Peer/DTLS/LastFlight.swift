import Transport

/// The records that ended a handshake, kept for a peer that did not receive them. They are sent unchanged: a peer that
/// has received them does not ask.
struct LastFlight {
    /// When the records are dropped: a peer that has not received them by then has given up.
    let expiry: Instant

    private let records: [UInt8]
    private var remaining = 32

    init(records: [UInt8], at now: Instant) {
        self.records = records
        self.expiry = now + .seconds(60)
    }

    /// The records, until the time or a bounded number of repetitions is used up. An attacker who forges the request
    /// gains little.
    mutating func take(at now: Instant) -> [UInt8]? {
        guard now < expiry, remaining > 0 else { return nil }
        remaining -= 1
        return records
    }
}
