/// The RTP timestamps of a track of sound, made from times that are rounded to milliseconds or come once for several
/// frames: each frame begins where the one before has ended, as long as the times agree with that.
struct SampleClock {
    let clockRate: Int64
    private var expected: Int64?

    /// A clock with this many ticks per second.
    init(clockRate: Int) { self.clockRate = Int64(clockRate) }

    /// The timestamp of the frame that begins at `time`, in ticks of 90 kHz, and lasts `ticks` of this clock.
    mutating func timestamp(at time: Int64, lasting ticks: Int) -> UInt32 {
        // The whole seconds and the rest are separate, since their product could overflow.
        let (seconds, rest) = time.quotientAndRemainder(dividingBy: 90_000)
        let stated = seconds &* clockRate &+ rest * clockRate / 90_000
        var result = stated
        if let expected {
            let difference = stated &- expected
            // A twentieth of a second: what is farther off is a gap, or another time.
            if abs(difference) <= clockRate / 20 {
                // The clocks of the camera's sound and of its times differ a little. Two milliseconds are rounding.
                let step: Int64 = abs(difference) <= clockRate / 500 ? 0 : difference.signum()
                result = expected &+ step
            }
        }
        expected = result &+ Int64(ticks)
        return UInt32(truncatingIfNeeded: result)
    }
}
