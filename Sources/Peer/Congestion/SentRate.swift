import Transport

/// How much was sent in a second, by totals that are looked at now and then.
struct SentRate: Sendable {
    private static let span = Duration.milliseconds(500)

    private var begin: (bytes: UInt64, at: Instant)?
    private var rates: (newest: Double, before: Double)?

    /// Takes the total so far.
    mutating func record(_ traffic: BandwidthEstimator.Traffic, at now: Instant) {
        let bytes = traffic.wireBytes
        guard let begin else { return self.begin = (bytes, now) }
        guard now - begin.at >= Self.span else { return }
        rates = (Double(bytes &- begin.bytes) * 8 / (now - begin.at).inSeconds, rates?.newest ?? 0)
        self.begin = (bytes, now)
    }

    /// The rate of the newest span.
    var newest: Double? { rates?.newest }

    /// The higher one of the rates of the two newest spans, in bits a second; nil before the end of the first.
    var most: Double? { rates.map { max($0.newest, $0.before) } }
}
