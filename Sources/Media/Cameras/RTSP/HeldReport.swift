import RTP
import Transport

/// What a sender report says of a camera's clocks (RFC 3550, section 6.4.1).
struct HeldReport: Equatable {
    /// The camera's wall clock.
    var ntp: NTPTimestamp
    /// The track's timestamp at that moment, on the outgoing timeline.
    var timestamp: UInt32

    /// The same relation of the two clocks, at a later timestamp. A timestamp that is older, or later than the report can have
    /// waited, changes nothing.
    func moved(to newest: UInt32?, clockRate: Int, atMost wait: Duration) -> HeldReport {
        guard let newest, clockRate > 0 else { return self }
        let ticks = Int64(Int32(bitPattern: newest &- timestamp))
        guard ticks > 0 else { return self }
        let later = Duration.nanoseconds(ticks * 1_000_000_000 / Int64(clockRate))
        guard later <= wait else { return self }
        let fraction = UInt64((later.inSeconds * 4_294_967_296).rounded())
        return HeldReport(ntp: NTPTimestamp(rawValue: ntp.rawValue &+ fraction), timestamp: newest)
    }
}
