import Transport

/// What happens when the path to the peer is another one.
extension BandwidthEstimator {
    /// The peer is reached on another path from now on. The rate is kept as a hint. What was known of delays is not, or the
    /// longer way of a mobile network would be taken for a queue.
    public mutating func recordPathChange(at now: Instant) {
        pathSince = now
        groups = ArrivalGroups()
        delay = DelayDetector()
        service.removeAll()
        roundTrips = RoundTripDetector()
        // What a probe has shown, or is about to show, is about the former path.
        probe.want(nil, failures: 0, at: now)
        provenAt = nil
        window.restart(at: now)
        limitation?.recordPathChange(at: now)
    }
}
