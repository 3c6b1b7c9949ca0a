import Transport

/// Relates a stream's RTP timestamps to the wall clock by its sender reports (RFC 3550, section 6.4.1), so that the
/// streams of one sender can be played in sync.
public struct RTPClock: Sendable, BitwiseCopyable {
    /// The clock rate in hertz.
    public let clockRate: Int
    private var reference: NTPTimestamp?
    private var referenceTimestamp: UInt32 = 0

    /// No report has come.
    public init(clockRate: Int) {
        self.clockRate = max(1, clockRate)
    }

    /// Records that `timestamp` is the moment `ntp`. The newest report counts: the two clocks drift apart.
    public mutating func update(ntp: NTPTimestamp, timestamp: UInt32) {
        reference = ntp
        referenceTimestamp = timestamp
    }

    /// The moment of `timestamp`, which lies within half a cycle of the last report; nil before the first report.
    public func ntp(of timestamp: UInt32) -> NTPTimestamp? {
        let ticks = Int64(Int32(bitPattern: timestamp &- referenceTimestamp))
        return reference?.advanced(by: .nanoseconds(ticks * 1_000_000_000 / Int64(clockRate)))
    }

    /// The timestamp of the moment `ntp`; nil before the first report.
    public func timestamp(at ntp: NTPTimestamp) -> UInt32? {
        guard let reference else { return nil }
        let (seconds, rest) = ntp.since(reference).wholeNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let ticks = seconds &* Int64(clockRate) &+ rest &* Int64(clockRate) / 1_000_000_000
        return referenceTimestamp &+ UInt32(truncatingIfNeeded: ticks)
    }
}
