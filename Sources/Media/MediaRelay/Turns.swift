/// Whose turn it is to come first: each time another one's, and each one's as often as any other's.
///
/// A camera's frame goes to all viewers at once. A line that some of them share and that is too slow takes what comes first. So
/// with a fixed order the same ones would always get everything, and the others next to nothing.
struct Turns: Sendable {
    /// Who take turns. Each kind has an irrational step of its own, in units of 2^-32: multiples of one are evenly spread, two of
    /// them do not fall in with each other, and no rhythm of the camera's, such as that of its key frames, falls in with them.
    enum Kind: UInt32 {
        /// The golden ratio.
        case viewers = 0x9E37_79B9
        /// The square root of two.
        case shards = 0x6A09_E667
    }

    private let kind: Kind
    private var position: UInt32 = 0

    /// - Parameter kind: who take turns.
    init(_ kind: Kind) { self.kind = kind }

    /// Who comes first this time, of `count`: from 0 up to it. After the last one comes number 0.
    mutating func next(of count: Int) -> Int {
        position &+= kind.rawValue
        return Int((UInt64(position) * UInt64(max(count, 0))) >> 32)
    }
}
