import Transport

/// What the queue of uploads may use, and how it waits.
public struct UploadLimits: Equatable, Sendable {
    /// The most bytes of footage that wait. Beyond it the oldest footage leaves the queue.
    public var maximumByteCount: Int
    /// The most attempts at once to one destination. A destination that hangs uses up only its own.
    public var maximumAttemptsPerDestination: Int
    /// The most attempts at once.
    public var maximumAttempts: Int
    /// The longest wait after the first failure. It doubles with each further one.
    public var firstRetry: Duration
    /// The longest wait after many failures.
    public var longestRetry: Duration
    /// The shortest wait after a failure that only a person can change.
    public var slowRetry: Duration
    /// The longest wait that a receiver's `Retry-After` gets.
    public var longestRetryAfter: Duration
    /// An alarm is raised after this many failures in a row.
    public var failuresBeforeAlarm: Int

    /// Sets the limits.
    public init(
        maximumByteCount: Int = 8 << 30, maximumAttemptsPerDestination: Int = 4, maximumAttempts: Int = 256,
        firstRetry: Duration = .seconds(1), longestRetry: Duration = .seconds(300), slowRetry: Duration = .seconds(60),
        longestRetryAfter: Duration = .seconds(3_600), failuresBeforeAlarm: Int = 3
    ) {
        self.maximumByteCount = maximumByteCount
        self.maximumAttemptsPerDestination = maximumAttemptsPerDestination
        self.maximumAttempts = maximumAttempts
        self.firstRetry = firstRetry
        self.longestRetry = longestRetry
        self.slowRetry = slowRetry
        self.longestRetryAfter = longestRetryAfter
        self.failuresBeforeAlarm = failuresBeforeAlarm
    }

    /// The wait after so many failures in a row: doubled each time, and between a half and the whole of it at random, so
    /// that what failed together does not come back together.
    func delay(failures: Int, isSlow: Bool, _ random: inout RandomSource) -> Duration {
        let doublings = min(max(0, failures - 1), 30)
        let longest = max(longestRetry, slowRetry)
        let base = min(firstRetry * (1 << doublings), isSlow ? longest : longestRetry)
        let whole = isSlow ? max(base, slowRetry) : base
        return whole * Double.random(in: 0.5...1, using: &random)
    }
}
