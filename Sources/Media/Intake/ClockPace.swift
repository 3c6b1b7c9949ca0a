import Transport

/// Judges by the times of arrival whether a camera's media clock runs at the right rate.
///
/// Crystals are off by some parts in a million, which is tolerated. Some cameras count at a rate other than the
/// described one, and their minute lasts six seconds or ten minutes. Their timestamps do not say when a picture should
/// be shown.
struct ClockPace: Sendable {
    /// How much time passes before a verdict: longer than a burst or a pause of a network.
    private static let window: Int64 = 10_000_000_000
    /// This many windows in a row must agree.
    private static let windows = 2

    /// The clock was more than a quarter off, and has not been right since.
    private(set) var isWrong = false
    private var begin: Instant?
    private var mediaTime: Int64 = 0
    private var dissents = 0

    /// Drops the measurements, since the clock was set. The verdict stays until it is disproved.
    mutating func restart(at now: Instant) {
        begin = now
        mediaTime = 0
        dissents = 0
    }

    /// The clock has advanced by this many nanoseconds since the packet before.
    mutating func note(_ nanoseconds: Int64, at now: Instant) {
        guard let begin else { return restart(at: now) }
        mediaTime &+= nanoseconds
        let passed = (now - begin).wholeNanoseconds
        guard passed >= Self.window else { return }
        // Off by a quarter is wrong, within a tenth is right, and anything between changes nothing.
        let isOff = mediaTime &* 4 > passed &* 5 || mediaTime &* 5 < passed &* 4
        let isRight = mediaTime &* 10 < passed &* 11 && mediaTime &* 10 > passed &* 9
        dissents = (isWrong ? isRight : isOff) ? dissents + 1 : 0
        (self.begin, mediaTime) = (now, 0)
        guard dissents >= Self.windows else { return }
        isWrong.toggle()
        dissents = 0
    }
}
