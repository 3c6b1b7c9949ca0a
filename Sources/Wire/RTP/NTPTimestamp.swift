import Transport

/// A wall-clock time as RTCP writes it: seconds since 1900 in the upper 32 bits, a binary fraction in the lower (RFC
/// 3550, section 4). It wraps in 2036 and every 136 years after that. This project never compares times so far apart.
public struct NTPTimestamp: Hashable, Sendable, BitwiseCopyable {
    /// The 64 bits of the wire.
    public var rawValue: UInt64

    /// Seconds from the NTP epoch (1900) to the Unix epoch (1970).
    @inlinable public static var unixEpoch: Int64 { 2_208_988_800 }

    /// Makes a timestamp from the 64 bits of the wire.
    @inlinable
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Converts nanoseconds since 1970, as the system's real-time clock gives them.
    public init(unixNanoseconds: Int64) {
        let (quotient, remainder) = unixNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let seconds = remainder < 0 ? quotient - 1 : quotient
        let nanoseconds = UInt64(remainder < 0 ? remainder + 1_000_000_000 : remainder)
        // Rounded up, so that converting back gives the same nanosecond.
        let fraction = ((nanoseconds << 32) + 999_999_999) / 1_000_000_000
        rawValue = UInt64(bitPattern: seconds &+ Self.unixEpoch) << 32 | fraction
    }

    /// Nanoseconds since 1970: for a time after 1968 in the first NTP era (until 2036), for an earlier one in the
    /// second era.
    public var unixNanoseconds: Int64 {
        var seconds = Int64(rawValue >> 32)
        // RFC 4330, section 3: with the top bit clear the time is in the era that starts in 2036.
        if seconds < 0x8000_0000 { seconds += 0x1_0000_0000 }
        return (seconds - Self.unixEpoch) * 1_000_000_000 + Int64(((rawValue & 0xFFFF_FFFF) * 1_000_000_000) >> 32)
    }

    /// The middle 32 bits, which a receiver report echoes: seconds and their fraction in 16.16.
    @inlinable public var middle: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 16) }

    /// The timestamp `duration` later.
    public func advanced(by duration: Duration) -> NTPTimestamp {
        let nanoseconds = duration.wholeNanoseconds
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let fraction = (rest << 32) / 1_000_000_000
        return NTPTimestamp(rawValue: rawValue &+ UInt64(bitPattern: seconds << 32 &+ fraction))
    }

    /// How long after `other` this timestamp is; negative when it is earlier.
    public func since(_ other: NTPTimestamp) -> Duration {
        let difference = Int64(bitPattern: rawValue &- other.rawValue)
        let seconds = difference >> 32
        return .seconds(seconds) + .nanoseconds(((difference & 0xFFFF_FFFF) * 1_000_000_000) >> 32)
    }
}

/// Times in the 16.16 form of report blocks.
public enum CompactTime {
    /// A duration in units of 1/65,536 second, clamped to what 32 bits hold.
    public static func units(_ duration: Duration) -> UInt32 {
        let nanoseconds = max(0, duration.wholeNanoseconds)
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        guard seconds < 0x1_0000 else { return .max }
        return UInt32(seconds) << 16 | UInt32((rest << 16) / 1_000_000_000)
    }

    /// Units of 1/65,536 second as a duration.
    public static func duration(_ units: UInt32) -> Duration {
        .nanoseconds((Int64(units) * 1_000_000_000) >> 16)
    }

    /// The round-trip time by a report block (RFC 3550, section 6.4.1); nil when the peer has not received a sender
    /// report yet, or when its numbers would make the time negative.
    ///
    /// `now` is the arrival of the report on the clock that the sender reports carried.
    public static func roundTripTime(
        now: NTPTimestamp, lastSenderReport: UInt32, delaySinceLastSenderReport: UInt32
    ) -> Duration? {
        guard lastSenderReport != 0 else { return nil }
        let units = now.middle &- lastSenderReport &- delaySinceLastSenderReport
        // More than nine hours: a negative difference has wrapped.
        guard units < 0x8000_0000 else { return nil }
        return duration(units)
    }
}
