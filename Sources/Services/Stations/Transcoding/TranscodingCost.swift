import Cameras
import DatagramPort
import Transport

/// What it costs to transcode one track.
public struct TranscodingCost: Sendable, Equatable {
    /// The codec that the camera sends, for example `H265`.
    public var source: String
    /// The codec that it is transcoded to, for example `VP8`.
    public var result: String
    /// How many sessions share it.
    public var users: Int
    /// The processor time of all transcoders of this track so far.
    public var processorTime: Duration
    /// The share of one processor core that it uses now, 0 to 1; nil while no transcoder runs, or in its first second.
    public var share: Double?
    /// How wide the pictures are, if they are smaller than the camera's because there is not enough processor time; nil
    /// while they are not limited.
    public var limitedWidth: Int?
    /// Pictures that were decoded but not shown, because others were waiting: the ring's content at the start of the
    /// transcoder, and what an encoder that is too slow for its processor skips.
    public var skipped: UInt64 = 0
    /// Packets or pictures of the camera that could not be decoded.
    public var failures: UInt64 = 0

    /// The cost as a sentence; nil if none is known.
    public var words: String? {
        guard let share else { return nil }
        let percent = share * 100
        let tenths = Int((percent * 10).rounded())
        let number = percent < 10 ? "\(tenths / 10).\(tenths % 10)" : "\(Int(percent.rounded()))"
        return "transcoding \(source) to \(result) takes \(number) % of a processor core"
            + (users > 1 ? ", shared by \(users) viewers" : "")
            + (limitedWidth.map {
                "; the picture is \($0) pixels wide, because there is not enough processor time for more"
            }
                ?? "")
    }
}

/// Measures the processor time of the calling thread.
struct ThreadProcessorTime {
    private var last = Self.now

    /// What the thread has used since the last call.
    mutating func lap() -> Duration {
        let now = Self.now
        defer { last = now }
        return now - last
    }

    private static var now: Duration { .nanoseconds(ProcessorClock.thread) }
}

/// The share of a core that work used over the last seconds. Pure: times are passed in.
struct ProcessorShare: Sendable, Equatable {
    private static let window = Duration.seconds(5)

    /// The share over the last whole window, or over the part so far of the first one.
    private(set) var share: Double?
    private var start: Instant
    private var work = Duration.zero

    init(since start: Instant) {
        self.start = start
    }

    /// Adds work that was done until `now`.
    mutating func record(_ done: Duration, at now: Instant) {
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
