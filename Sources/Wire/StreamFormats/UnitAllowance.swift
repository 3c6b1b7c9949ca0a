/// How much one call of a demuxer may pass on.
///
/// A few bytes of a camera can ask for the same samples or parameter sets many times, and the smallest unit takes more
/// memory than its bytes. So what comes out is bounded by what went in.
struct UnitAllowance {
    /// Bytes that may come out beyond those that went in: parameter sets, start codes, and the memory around each unit.
    static let margin = 16 << 20
    private var left = UnitAllowance.margin
    /// Whether more units came than may be passed on.
    private(set) var isExceeded = false

    /// Adds bytes that went in.
    mutating func add(input count: Int) { left += count }

    /// Counts a unit. Returns whether it may be passed on.
    mutating func admit(_ unit: StreamUnit) -> Bool {
        guard !isExceeded else { return false }
        left -= unit.footprint
        isExceeded = left < 0
        return !isExceeded
    }
}
