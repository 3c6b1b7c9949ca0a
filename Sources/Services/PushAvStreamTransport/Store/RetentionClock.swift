public import Transport

/// The time by which recordings grow old.
///
/// A wall clock can leap years ahead: the battery of the machine's clock is empty, or somebody mistypes a year. All
/// recordings would be too old at once, and gone before the clock is right again. So a leap does not count until a time
/// server keeps the clock right, or the gateway has run for a day with it, in one run or in several.
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

    /// What a run knows of the clock, for the next run.
    public struct Record: Codable, Equatable, Sendable {
        /// The time that counted last, in milliseconds since 1970, UTC.
        public var time: Int64
        /// How far the wall clock was ahead of it, in milliseconds.
        public var lead: Int64
        /// How long the gateway has run with this lead, in milliseconds.
        public var doubted: Int64

        /// Names what is known.
        public init(time: Int64, lead: Int64 = 0, doubted: Int64 = 0) {
            self.time = time
            self.lead = lead
            self.doubted = doubted
        }
    }

    /// A step that counts at once, in milliseconds.
    static let tolerance: Int64 = 60_000
    /// How long the gateway may have been off before the time since then is doubted, in milliseconds. Some machines are off
    /// every night. A leap that is not longer ages recordings by a day at most.
    static let longestPause: Int64 = 86_400_000
    /// How long a clock is doubted that nothing corrects and nothing confirms.
    static let trial = Duration.seconds(86_400)

    /// How far the wall clock is ahead of the time that counts, in milliseconds.
    public private(set) var lead: Int64
    /// How long the gateway has run with the lead, in this run and in earlier ones.
    private var doubted: Duration
    private var last: Reading?
    private let earlier: Record?

    /// A clock that has not been read yet.
    /// - Parameter earlier: what an earlier run knew; nil if there was none.
    public init(after earlier: Record? = nil) {
        self.earlier = earlier
        lead = earlier?.lead ?? 0
        doubted = .milliseconds(earlier?.doubted ?? 0)
    }

    /// What the next run has to know; nil before the first reading.
    public var record: Record? {
        last.map { Record(time: $0.wall &- lead, lead: lead, doubted: doubted.wholeNanoseconds / 1_000_000) }
    }

    /// The time that counts, in milliseconds since 1970, UTC.
    public mutating func time(at reading: Reading) -> Int64 {
        let leap = self.leap(to: reading)
        if let last { doubted += reading.uptime - last.uptime }
        if reading.isSynchronized {
            lead = 0
        } else if leap > 0 {
            lead &+= leap
            doubted = .zero
        } else {
            lead = max(0, lead &+ leap)
        }
        if lead == 0 || doubted >= Self.trial {
            lead = 0
            doubted = .zero
        }
        last = reading
        return reading.wall &- lead
    }

    /// How far the wall clock was set ahead since the last reading, in milliseconds; less than zero if it was set back.
    private func leap(to reading: Reading) -> Int64 {
        guard let last else { return earlier.map { self.leap(to: reading, after: $0) } ?? 0 }
        let passed = (reading.uptime - last.uptime).wholeNanoseconds / 1_000_000
        let leap = reading.wall &- last.wall &- passed
        return (-Self.tolerance...Self.tolerance).contains(leap) ? 0 : leap
    }

    /// The same since an earlier run. Nothing says how long ago that was.
    private func leap(to reading: Reading, after earlier: Record) -> Int64 {
        let passed = reading.wall &- earlier.time
        // The clock is right, or was put right.
        if passed <= Self.longestPause { return 0 &- earlier.lead }
        let pause = passed &- earlier.lead
        return pause > Self.longestPause ? pause : min(pause, 0)
    }
}
