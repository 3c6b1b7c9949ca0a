import Transport

/// Probing, so that the rate can rise again.
extension BandwidthEstimator {
    /// What the path is probed for, as a multiple of what the peer needs.
    private static let probedShare = 1.3

    /// Says what is worth finding out.
    ///
    /// A peer that waits for a larger stream sends too little of its own to show what the path carries. One whose only stream
    /// is limited does not need probes: its limit rises by itself, and probes would cost pictures.
    /// - Parameters:
    ///   - larger: the rate of a larger stream that the peer may have; nil if there is none.
    ///   - failures: how many moves up in a row did not last. Each makes the next probe longer.
    public mutating func chooseProbe(larger: Double?, failures: Int = 0, at now: Instant) {
        probe.want(limitation == nil ? larger.map { $0 * Self.probedShare } : nil, failures: failures, at: now)
    }

    /// Whether a probe is being sent, or the feedback on it has not come. Loss during a probe means that the path is full.
    public var isProbing: Bool { probe.isInFlight }

    /// How many bytes of packets that the peer does not need have to leave now.
    /// - Parameter number: the next transport-wide sequence number.
    public mutating func probeBytes(_ traffic: Traffic, next number: UInt64, at now: Instant) -> Int {
        probe.bytesDue(traffic.wireBytes, next: number, at: now)
    }

    /// The socket accepts nothing now: the probe has failed, and what is lost of it is the probe's.
    public mutating func recordProbeBlocked(at now: Instant) {
        probe.recordBlocked(at: now)
        limitation?.passOver(until: now)
        window.restart(at: now)
    }

    /// Whether a probe has lately shown that the path carries so many bits a second.
    public func hasProven(_ rate: Double, at now: Instant) -> Bool {
        guard let provenAt, now - provenAt < .seconds(2) else { return false }
        return proven >= rate
    }
}
