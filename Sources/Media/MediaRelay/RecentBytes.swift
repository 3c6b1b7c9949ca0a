import Transport

/// How many bytes came in the current second and in the one before, and in a second on average.
struct RecentBytes {
    private static let window = Duration.seconds(1)

    private var begin = Instant.zero
    private var present: UInt64 = 0
    private var before: UInt64 = 0
    private var average: Double?

    /// Counts `bytes` that came at `now`.
    mutating func add(_ bytes: Int, at now: Instant) {
        if now - begin >= Self.window {
            if present > 0 {
                let rate = Double(present) / min((now - begin).inSeconds, 2)
                average = average.map { $0 + (rate - $0) / 4 } ?? rate
            }
            before = now - begin < Self.window * 2 ? present : 0
            present = 0
            begin = now
        }
        present += UInt64(clamping: bytes)
    }

    /// The bytes of a second, averaged over some seconds.
    var mean: Double { average ?? Double(present) }

    /// The bytes of the busier of the two seconds.
    var busiestSecond: UInt64 { max(present, before) }
}
