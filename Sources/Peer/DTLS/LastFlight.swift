import Transport

/// The records that ended a handshake, kept for a peer that did not get them. They are sent as they were: whoever got
/// them already would not ask.
struct LastFlight {
    /// When the records are forgotten: a peer that has not got them by then has given up.
    let expiry: Instant

    private let records: [UInt8]
    private var remaining = 32

    init(records: [UInt8], at now: Instant) {
        self.records = records
        self.expiry = now + .seconds(60)
    }

    /// The records, as long as the time and a bounded number of repetitions last: whoever forges the request gets
    /// little for it.
    mutating func take(at now: Instant) -> [UInt8]? {
        guard now < expiry, remaining > 0 else { return nil }
        remaining -= 1
        return records
    }
}
