import Transport

/// Probing, so that the rate can rise again.
extension BandwidthEstimator {
    /// What a limited path is probed for, as a multiple of the demand, and after how long without trouble.
    private static let probe = (share: 1.3, quiet: Duration.seconds(3))

    /// Says what is worth finding out.
    /// - Parameters:
    ///   - larger: the rate of a larger stream that the peer may have; nil if there is none.
    ///   - demand: the rate of its present stream.
    public mutating func chooseProbe(larger: Double?, demand: Double, at now: Instant) {
        if let larger {
            probe.want(larger * Self.probe.share, at: now)
        } else if let limitation, limitation.cause != .trial, now - limitation.loweredAt >= Self.probe.quiet {
            probe.want(demand * Self.probe.share, at: now)
        } else if !probe.isInFlight {
            probe.want(nil, at: now)
        }
    }

    /// When ``probeBytes(_:next:at:)`` has to be asked.
    public var nextProbe: Instant? { probe.nextDeadline }

    /// How many bytes of packets that the peer does not need have to leave now.
    /// - Parameter number: the next transport-wide sequence number.
    public mutating func probeBytes(_ traffic: Traffic, next number: UInt64, at now: Instant) -> Int {
        probe.bytesDue(traffic.wireBytes, next: number, at: now)
    }

    /// Whether a probe has lately shown that the path carries so many bits a second.
    public func hasProven(_ rate: Double, at now: Instant) -> Bool {
        guard let provenAt, now - provenAt < .seconds(2) else { return false }
        return proven >= rate
    }
}
