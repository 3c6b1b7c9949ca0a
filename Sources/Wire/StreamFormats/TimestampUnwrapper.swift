/// Turns timestamps that wrap into ones that do not: the 33 bits of MPEG-TS, and the 32 bits of FLV and RTMP.
///
/// A timestamp is treated as the one that is nearest to the newest one, so it may step back as well.
public struct TimestampUnwrapper: Sendable {
    /// No camera gets so far: thousands of years.
    static let largest: Int64 = 1 << 50
    private let range: Int64
    private var newest: Int64?

    /// Unwraps timestamps of this many bits, 8 to 48.
    public init(bits: Int) {
        range = 1 << Int64(min(max(bits, 8), 48))
    }

    /// The timestamp without a wrap. The first one stays as it is.
    public mutating func unwrap(_ timestamp: Int64) -> Int64 {
        let value = timestamp & (range - 1)
        guard let newest else {
            self.newest = value
            return value
        }
        var step = (value &- newest) & (range - 1)
        if step >= range / 2 { step -= range }
        // A forged stream could otherwise add up steps until they, or their multiples in another unit, overflow.
        let next = newest + step
        let result = abs(next) > Self.largest ? value : next
        self.newest = result
        return result
    }
}
