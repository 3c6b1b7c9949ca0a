import Transport

/// Judges whether a camera's media clock runs at the rate that it should, by the times of arrival.
///
/// Crystals are off by some parts in a million and are lived with. Some cameras count another rate than they describe,
/// and their minute lasts six seconds or ten minutes: their timestamps say nothing about when a picture is to be shown.
struct ClockPace: Sendable {
    /// How much time is looked at before it is judged: longer than a burst or a pause of a network.
    private static let window: Int64 = 10_000_000_000
    /// So many windows in a row have to say the same.
    private static let windows = 2

    /// The clock is more than a quarter off, and was not seen to be right since.
    private(set) var isWrong = false
    private var begin: Instant?
    private var mediaTime: Int64 = 0
    private var dissents = 0

    /// What was measured counts no more: the clock was set. The verdict stays until it is disproved.
    mutating func restart(at now: Instant) {
        begin = now
        mediaTime = 0
        dissents = 0
    }

    /// The clock has gone on by so many nanoseconds since the packet before.
    mutating func note(_ nanoseconds: Int64, at now: Instant) {
        guard let begin else { return restart(at: now) }
        mediaTime &+= nanoseconds
        let passed = (now - begin).wholeNanoseconds
        guard passed >= Self.window else { return }
        // Off by a quarter is wrong, within a tenth is right, and what lies between changes nothing.
        let isOff = mediaTime &* 4 > passed &* 5 || mediaTime &* 5 < passed &* 4
        let isRight = mediaTime &* 10 < passed &* 11 && mediaTime &* 10 > passed &* 9
        dissents = (isWrong ? isRight : isOff) ? dissents + 1 : 0
        (self.begin, mediaTime) = (now, 0)
        guard dissents >= Self.windows else { return }
        isWrong.toggle()
        dissents = 0
    }
}
