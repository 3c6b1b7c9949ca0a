/// A point on the monotonic clock, in nanoseconds since an origin that only its source knows.
///
/// Nothing on floors 1 and 2 reads a clock: each call gets the time, so a test can hand in virtual time.
public struct Instant: Comparable, Hashable, Sendable, BitwiseCopyable {
    /// Nanoseconds since the clock's origin.
    public var nanoseconds: Int64

    /// Makes an instant from its distance to the clock's origin, in nanoseconds.
    @inlinable
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The origin of the clock.
    @inlinable public static var zero: Instant { Instant(nanoseconds: 0) }

    /// Later than any instant that a clock reaches.
    @inlinable public static var distantFuture: Instant { Instant(nanoseconds: .max) }

    @inlinable
    public static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The instant `duration` later; a sum beyond the representable range is the nearest end of the range.
    @inlinable
    public static func + (left: Instant, right: Duration) -> Instant {
        let (sum, overflow) = left.nanoseconds.addingReportingOverflow(right.wholeNanoseconds)
        return Instant(nanoseconds: overflow ? (right < .zero ? .min : .max) : sum)
    }

    /// The instant `duration` earlier; see ``+(_:_:)``.
    @inlinable
    public static func - (left: Instant, right: Duration) -> Instant {
        let (difference, overflow) = left.nanoseconds.subtractingReportingOverflow(right.wholeNanoseconds)
        return Instant(nanoseconds: overflow ? (right < .zero ? .max : .min) : difference)
    }

    /// How long after `right` this instant is; negative when it is earlier. A difference beyond 292 years is the
    /// nearest one that fits, so ``distantFuture`` is never in the past.
    @inlinable
    public static func - (left: Instant, right: Instant) -> Duration {
        let (difference, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        return .nanoseconds(overflow ? (left < right ? .min : .max) : difference)
    }

    /// Moves the instant `right` later.
    @inlinable
    public static func += (left: inout Instant, right: Duration) {
        left = left + right
    }
}

extension Duration {
    /// The duration in whole nanoseconds, rounded towards zero and clamped to what an `Int64` holds (292 years).
    @inlinable
    public var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = parts
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, tooLarge) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return tooLarge ? (seconds < 0 ? .min : .max) : sum
    }

    /// The duration in seconds.
    @inlinable
    public var inSeconds: Double {
        let (seconds, attoseconds) = parts
        return Double(seconds) + Double(attoseconds) * 1e-18
    }

    /// The same as `components`, which divides 128 bits in the standard library: some 40 ns, and a packet has several of
    /// them. Up to 18 seconds, the attoseconds fit 64 bits, whose division takes one.
    @inlinable
    var parts: (seconds: Int64, attoseconds: Int64) {
        let attoseconds = attoseconds
        guard let count = UInt64(exactly: attoseconds) else { return components }
        let (seconds, rest) = count.quotientAndRemainder(dividingBy: 1_000_000_000_000_000_000)
        return (Int64(truncatingIfNeeded: seconds), Int64(truncatingIfNeeded: rest))
    }

    /// The duration in milliseconds.
    @inlinable
    public var inMilliseconds: Double { inSeconds * 1000 }
}
