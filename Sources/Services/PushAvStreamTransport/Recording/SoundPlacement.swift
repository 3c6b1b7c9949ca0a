/// Puts pieces of sound one after the other. Players want no holes and no overlaps between them, and cameras state
/// times that are a little off: in milliseconds, or those of sending. So a piece follows the one before it unless it is
/// off by more than ears and eyes tolerate; then a hole is left, or a piece is left out.
struct SoundPlacement: Sendable {
    /// What to do with a piece.
    enum Decision: Equatable, Sendable {
        /// It begins at this time.
        case place(Int64)
        /// It lies where sound has been already.
        case leaveOut
    }

    private let tolerance: Int64
    /// When the newest piece ends.
    private(set) var end: Int64?

    /// - Parameter clockRate: ticks in a second.
    init(clockRate: Int) {
        tolerance = Int64(max(clockRate, 1)) * 60 / 1_000
    }

    /// Places a piece of `duration` whose time is `time`.
    mutating func place(at time: Int64, duration: Int64) -> Decision {
        guard let end, time - end <= max(tolerance, duration) else {
            self.end = time + duration
            return .place(time)
        }
        guard end - time <= max(tolerance, duration) else { return .leaveOut }
        self.end = end + duration
        return .place(end)
    }
}
