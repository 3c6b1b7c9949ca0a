/// A point on the wall clock, as people and cameras write it down; for intervals use ``Instant``.
public struct WallTime: Hashable, Sendable, Comparable, BitwiseCopyable {
    /// Milliseconds since the beginning of 1970 in UTC.
    public var millisecondsSince1970: Int64

    /// Makes a point in time.
    public init(millisecondsSince1970: Int64) {
        self.millisecondsSince1970 = millisecondsSince1970
    }

    public static func < (left: WallTime, right: WallTime) -> Bool {
        left.millisecondsSince1970 < right.millisecondsSince1970
    }

    /// The time this many milliseconds later.
    public func advanced(byMilliseconds milliseconds: Int64) -> WallTime {
        WallTime(millisecondsSince1970: millisecondsSince1970 &+ milliseconds)
    }
}
