import Transport

/// When the first frames of a view arrived, to find out when it had caught up with the camera.
///
/// A new viewer gets what came since the newest key frame, with timestamps close together, and then each frame as the
/// camera makes it. Their pace differs.
public struct FrameArrivals: Sendable {
    private static let capacity = 1_000
    /// The number of frames at the camera's pace that show what is on time.
    private static let fewest = 12

    private var entries: [(timestamp: UInt32, arrival: Instant)] = []

    /// No frames.
    public init() {}

    /// Records the arrival of a frame's last packet.
    public mutating func record(timestamp: UInt32, at now: Instant) {
        if entries.count < Self.capacity { entries.append((timestamp, now)) }
    }

    /// When the last frame of the backlog arrived: from then on, the view shows what the camera sees. Nil before enough
    /// frames have come at the camera's pace.
    public func caughtUp(clockRate: Int = 90_000) -> Instant? {
        guard entries.count >= Self.fewest else { return nil }
        let first = entries[0]
        let captures = entries.map { Double(Int32(bitPattern: $0.timestamp &- first.timestamp)) / Double(clockRate) }
        let delays = zip(entries, captures).map { ($0.arrival - first.arrival).inSeconds - $1 }
        let steps = zip(captures.dropFirst(), captures).map { $0 - $1 }
        let newest = entries.count - Self.fewest
        let spacing = steps[newest...].sorted()[(steps.count - newest) / 2]
        guard let onTime = delays[newest...].min(), spacing > 0 else { return nil }
        let latest = onTime + spacing / 2
        let live = delays.indices.first { index in
            delays[index] <= latest && steps[max(index - 1, 0)] > spacing * 0.6
        }
        // If nothing is on time before the newest frames, the camera's pace is not known yet.
        guard let live, live <= newest else { return nil }
        return entries[max(live - 1, 0)].arrival
    }
}
