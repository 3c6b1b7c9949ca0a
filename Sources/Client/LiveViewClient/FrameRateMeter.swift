import RTP
import Transport

/// The frame rate of a view by the media's own clock, without the backlog.
///
/// A view begins with the pictures since the last key frame, which arrive as fast as the path allows. Counted by
/// arrival time, they would give any rate. The meter therefore counts by RTP timestamps, beginning with the first frame
/// that was no later than the frames after it.
public struct FrameRateMeter: Sendable {
    /// How long the meter looks for the end of the backlog, and how many frames it remembers for that.
    private static let window: Duration = .seconds(5)
    private static let maximumRemembered = 2_000
    /// How much later than the earliest a frame may be and still be treated as live, in seconds: the path's jitter.
    private static let tolerance = 0.1

    private let clockRate: Double
    private var unwrapper = TimestampUnwrapper()
    private var first: (arrival: Instant, media: Int64)?
    private var newest: Int64 = 0
    private var frames = 0
    /// The media time of the first frames, in ticks, and how late each was, in seconds; both count from the first.
    private var remembered: [(media: Int64, lateness: Double)] = []

    /// A meter of a track whose RTP clock has `clockRate` ticks a second.
    public init(clockRate: UInt32) {
        self.clockRate = Double(max(clockRate, 1))
    }

    /// Counts a frame with the time at which its last packet arrived. Frames arrive in the order of their timestamps.
    public mutating func add(timestamp: UInt32, arrival: Instant) {
        let media = unwrapper.unwrap(timestamp)
        let begin = first ?? (arrival, media)
        if first == nil { first = begin }
        frames += 1
        newest = max(newest, media - begin.media)
        guard arrival - begin.arrival < Self.window, remembered.count < Self.maximumRemembered else { return }
        let lateness = (arrival - begin.arrival).inSeconds - Double(media - begin.media) / clockRate
        remembered.append((media - begin.media, lateness))
    }

    /// How many frames belonged to the backlog.
    public var backlogFrames: Int {
        guard let earliest = remembered.map(\.lateness).min() else { return 0 }
        var backlog = remembered.firstIndex { $0.lateness <= earliest + Self.tolerance } ?? 0
        // The last pictures of the backlog arrive within the tolerance. Their timestamps are closer together than the
        // camera's, so that a player shows the newest at once. The frames in the later half of the time give the
        // camera's own spacing. A backlog can have more frames than a short view adds to it.
        let arrivals = remembered.map { $0.lateness + Double($0.media) / clockRate }
        let middle = (arrivals.max() ?? 0) / 2
        let spacings = zip(remembered.dropFirst(), remembered).map { $0.media - $1.media }
        let live = zip(spacings, arrivals.dropFirst()).filter { $0.1 >= middle }.map(\.0).sorted()
        let usual = live.dropFirst(live.count / 2).first ?? 0
        while backlog < spacings.count, arrivals[backlog + 1] < middle, spacings[backlog] < usual / 2 {
            backlog += 1
        }
        return backlog
    }

    /// Frames per second of media after the backlog; nil while there are fewer than two.
    public var framesPerSecond: Double? {
        let backlog = backlogFrames
        guard backlog < remembered.count, frames - backlog >= 2 else { return nil }
        let seconds = Double(newest - remembered[backlog].media) / clockRate
        return seconds > 0 ? Double(frames - backlog - 1) / seconds : nil
    }
}
