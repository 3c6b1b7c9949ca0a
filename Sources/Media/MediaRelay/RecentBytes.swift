import Transport

/// How many bytes came in the current second and in the one before.
struct RecentBytes {
    private static let window = Duration.seconds(1)

    private var begin = Instant.zero
    private var present: UInt64 = 0
    private var before: UInt64 = 0

    /// Counts `bytes` that came at `now`.
    mutating func add(_ bytes: Int, at now: Instant) {
        if now - begin >= Self.window {
            before = now - begin < Self.window * 2 ? present : 0
            present = 0
            begin = now
        }
        present += UInt64(clamping: bytes)
    }

    /// The bytes of the busier of the two seconds.
    var busiestSecond: UInt64 { max(present, before) }
}
