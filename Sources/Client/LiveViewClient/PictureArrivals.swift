import Transport

/// When the last packets of a view's pictures arrived, to find out how old they were.
///
/// The sender's clock is known better from report to report: what is read of a camera that nobody watched may wait for up
/// to a picture, and its first report with it. So the ages are calculated when somebody wants them, with the newest report.
struct PictureArrivals {
    /// How many are kept: two hours of a camera with 15 pictures a second.
    private static let capacity = 100_000

    private var entries: [(timestamp: UInt32, unixNanoseconds: Int64)] = []

    /// How many there are.
    var count: Int { entries.count }

    /// Records the arrival of a picture's last packet, by the wall clock.
    mutating func note(timestamp: UInt32, unixNanoseconds: Int64) {
        if entries.count < Self.capacity { entries.append((timestamp, unixNanoseconds)) }
    }

    /// The ages in nanoseconds, in the order of arrival; none before the sender's first report.
    func ages(in track: ReceivedMedia) -> [Int64] {
        entries.compactMap { entry in
            track.age(of: entry.timestamp, unixNanoseconds: entry.unixNanoseconds)?.wholeNanoseconds
        }
    }
}
