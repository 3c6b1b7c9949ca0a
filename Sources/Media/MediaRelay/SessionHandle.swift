/// Names a session inside the relay: its shard, and which one it is there. Handles are never used twice.
struct SessionHandle: Hashable, Sendable, BitwiseCopyable {
    private let bits: UInt64

    /// - Parameters:
    ///   - shard: less than 64.
    ///   - number: less than 2⁵⁶.
    init(shard: Int = 0, number: UInt64) {
        bits = UInt64(truncatingIfNeeded: shard) << 56 | number & (1 << 56 - 1)
    }

    /// The number of the session's shard.
    var shard: Int { Int(bits >> 56) }
}

/// Names a track on its shard. Handles are never used twice.
struct TrackHandle: Hashable, Sendable, BitwiseCopyable {
    let number: UInt64
}
