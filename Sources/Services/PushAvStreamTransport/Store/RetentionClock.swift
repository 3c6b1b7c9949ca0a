public import Transport

/// The time by which recordings grow old.
///
/// A wall clock can leap years ahead: the battery of the machine's clock is empty, or somebody mistypes a year. All
/// recordings would be too old at once, and gone before the clock is right again. So a leap does not count until a time
/// server keeps the clock right, or the machine has run for a day with it.
public struct RetentionClock: Sendable {
    /// What the machine's clocks show at one moment.
    public struct Reading: Sendable {
        /// The wall clock, in milliseconds since 1970, UTC.
        public var wall: Int64
        /// The monotonic clock, which counts the time in suspension.
        public var uptime: Instant
        /// Whether the kernel knows of something that keeps the wall clock right.
        public var isSynchronized: Bool

        /// Takes the clocks' readings.
        public init(wall: Int64, uptime: Instant, isSynchronized: Bool) {
            self.wall = wall
            self.uptime = uptime
            self.isSynchronized = isSynchronized
        }
    }

    /// A step that counts at once, in milliseconds.
    static let tolerance: Int64 = 60_000
    /// How long the gateway may have been off before the time since then is doubted, in milliseconds.
    static let longestPause: Int64 = 2 * 3_600_000
    /// How long a clock is doubted that nothing corrects and nothing confirms.
    static let trial = Duration.seconds(86_400)

    /// How far the wall clock is ahead of the time that counts, in milliseconds.
    public private(set) var lead: Int64 = 0
    private var doubtedSince = Instant.zero
    private var last: Reading?
    /// The time that counted in an earlier run.
    private let earlier: Int64?

    /// A clock that has not been read yet.
    /// - Parameter earlier: the time that counted in an earlier run, in milliseconds since 1970, UTC; nil if none is known.
    public init(after earlier: Int64? = nil) {
        self.earlier = earlier
    }

    /// The time that counts, in milliseconds since 1970, UTC.
    public mutating func time(at reading: Reading) -> Int64 {
        let leap = self.leap(to: reading)
        if reading.isSynchronized {
            lead = 0
        } else if leap > 0 {
            lead &+= leap
            doubtedSince = reading.uptime
        } else {
            lead = max(0, lead &+ leap)
        }
        if lead > 0, reading.uptime - doubtedSince >= Self.trial { lead = 0 }
        last = reading
        return reading.wall &- lead
    }

    /// How far the wall clock was set ahead since the last reading, in milliseconds; less than zero if it was set back.
    private func leap(to reading: Reading) -> Int64 {
        guard let last else {
            let pause = earlier.map { reading.wall &- $0 } ?? 0
            return pause > Self.longestPause ? pause : 0
        }
        let passed = (reading.uptime - last.uptime).wholeNanoseconds / 1_000_000
        let leap = reading.wall &- last.wall &- passed
        return (-Self.tolerance...Self.tolerance).contains(leap) ? 0 : leap
    }
}
