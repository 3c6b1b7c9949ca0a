import Transport

/// Which refusals and ends of publishers are reported. An encoder that fails keeps trying, which must not fill the log.
public struct RefusedPublishers: Sendable {
    private struct Refusal: Hashable {
        let camera: String
        let host: String
        let reason: String
    }

    private struct Record {
        var told: Instant
        /// How many have come since then.
        var count: UInt64 = 0
    }

    /// The time between two reports of the same refusal.
    static let interval = Duration.seconds(60)
    /// The most refusals that are counted separately. While there are more, new ones are not reported.
    static let maximumRecords = 64
    /// The most of them of one host, so that it cannot hide what happens to others.
    static let maximumOfHost = 16

    private var records: [Refusal: Record] = [:]

    /// Nobody has been refused.
    public init() {}

    /// Counts a refusal.
    /// - Returns: how often it has come since it was last reported, this time included; nil if it is not to be reported
    ///   now. It is reported at most once a minute for each camera, host and reason.
    public mutating func record(camera: String, host: String, reason: String, at now: Instant) -> UInt64? {
        let refusal = Refusal(camera: camera, host: host, reason: reason)
        if let record = records[refusal] {
            let count = record.count + 1
            let isDue = now - record.told >= Self.interval
            records[refusal] = isDue ? Record(told: now) : Record(told: record.told, count: count)
            return isDue ? count : nil
        }
        if !hasRoom(for: host) {
            records = records.filter { now - $0.value.told < Self.interval }
            guard hasRoom(for: host) else { return nil }
        }
        records[refusal] = Record(told: now)
        return 1
    }

    private func hasRoom(for host: String) -> Bool {
        records.count < Self.maximumRecords && records.keys.count(where: { $0.host == host }) < Self.maximumOfHost
    }
}
