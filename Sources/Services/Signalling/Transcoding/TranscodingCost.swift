import Cameras
import Glibc
import Transport

/// What it costs to make one track of another.
public struct TranscodingCost: Sendable, Equatable {
    /// The codec that the camera sends, for example `H265`.
    public var source: String
    /// The codec that is made of it, for example `VP8`.
    public var result: String
    /// How many sessions share it.
    public var users: Int
    /// The processor time of all transcoders of this track so far.
    public var processorTime: Duration
    /// The share of one processor core that it takes now, 0 to 1; nil while no transcoder runs, or in its first second.
    public var share: Double?
    /// How wide the pictures are made instead of as wide as they come, because the processor has no room for more; nil
    /// while they are not limited.
    public var limitedWidth: Int?
    /// Pictures that were decoded and not shown, because others waited already: what the ring held when the transcoder
    /// started, and what an encoder that is too slow for its processor leaves out.
    public var skipped: UInt64 = 0
    /// Packets or pictures of the camera that could not be decoded.
    public var failures: UInt64 = 0

    /// The cost as a sentence; nil while there is none to tell.
    public var words: String? {
        guard let share else { return nil }
        let percent = share * 100
        let tenths = Int((percent * 10).rounded())
        let number = percent < 10 ? "\(tenths / 10).\(tenths % 10)" : "\(Int(percent.rounded()))"
        return "making \(result) of \(source) takes \(number) % of a processor core"
            + (users > 1 ? ", shared by \(users) viewers" : "")
            + (limitedWidth.map { "; the picture is made \($0) pixels wide, since the processor has no room for more" }
                ?? "")
    }
}

/// Measures the processor time of the thread that asks.
struct ThreadProcessorTime {
    private var last = Self.now

    /// What the thread has taken since the last call.
    mutating func lap() -> Duration {
        let now = Self.now
        defer { last = now }
        return now - last
    }

    private static var now: Duration {
        var time = timespec()
        // It fails for a clock that does not exist alone, and this one does on every Linux.
        guard clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 else { return .zero }
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}

/// The share of a core that work takes, over the last seconds. Pure: times are handed in.
struct ProcessorShare: Sendable, Equatable {
    private static let window = Duration.seconds(5)

    /// The share over the last whole window, or over what there is of the first one.
    private(set) var share: Double?
    private var start: Instant
    private var work = Duration.zero

    init(since start: Instant) {
        self.start = start
    }

    /// Takes work that was done until `now`.
    mutating func note(_ done: Duration, at now: Instant) {
        work += done
        let elapsed = now - start
        // Before the first window is full, a second is better than nothing.
        guard elapsed >= Self.window || (share == nil && elapsed >= .seconds(1)) else { return }
        share = work.inSeconds / elapsed.inSeconds
        guard elapsed >= Self.window else { return }
        start = now
        work = .zero
    }
}
