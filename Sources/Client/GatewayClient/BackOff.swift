/// How long to wait between attempts: longer each time, and never the same for two clients.
public struct BackOff: Sendable {
    /// The longest wait.
    public var longest: Duration
    private let first: Duration
    private var next: Duration

    /// Waits up to `first` before the second attempt, and up to twice as long before each further one.
    public init(first: Duration = .milliseconds(250), longest: Duration = .seconds(15)) {
        self.first = first
        self.longest = longest
        next = first
    }

    /// Starts over after an attempt that succeeded.
    public mutating func reset() {
        next = first
    }

    /// The time until the next attempt: between half of the wait and all of it.
    public mutating func wait(using random: inout some RandomNumberGenerator) -> Duration {
        defer { next = min(next * 2, longest) }
        return next * Double.random(in: 0.5...1, using: &random)
    }

    /// The time until the next attempt.
    public mutating func wait() -> Duration {
        var random = SystemRandomNumberGenerator()
        return wait(using: &random)
    }
}
