import Glibc
import Transport

/// The clocks by which the built-in camera paces itself.
enum BuiltInClock {
    /// The monotonic clock of this machine (`CLOCK_MONOTONIC`).
    static func now() -> Instant {
        Instant(nanoseconds: read(CLOCK_MONOTONIC))
    }

    /// Microseconds since 1970 (UTC).
    static func wallClock() -> UInt64 {
        UInt64(clamping: read(CLOCK_REALTIME) / 1000)
    }

    /// Waits until `deadline`; returns early only when a signal arrives.
    static func sleep(until deadline: Instant) {
        var time = timespec(
            tv_sec: Int(deadline.nanoseconds / 1_000_000_000), tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil)
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
