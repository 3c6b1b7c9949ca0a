import CLinuxUDP
import Glibc
public import Transport

/// The clock for all deadlines. It never goes back, and counts the time in suspension: what was promised for an hour is
/// over when the machine wakes up two hours later.
public enum MonotonicClock {
    /// Nanoseconds since the machine's start.
    public static var now: Instant {
        Instant(nanoseconds: nanoseconds(of: CLOCK_BOOTTIME))
    }

    /// How long the machine has been suspended since its start: by so much this clock is ahead of `CLOCK_MONOTONIC`, which
    /// most other programs use.
    public static var suspension: Duration {
        .nanoseconds(nanoseconds(of: CLOCK_BOOTTIME) - nanoseconds(of: CLOCK_MONOTONIC))
    }

    /// Waits until `deadline`; returns early only when a signal arrives.
    public static func sleep(until deadline: Instant) {
        var time = timespec(
            tv_sec: Int(deadline.nanoseconds / 1_000_000_000), tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
        clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &time, nil)
    }
}

/// The time of day: for sender reports and for time stamps that leave the process, not for measurements.
public enum WallClock {
    /// Nanoseconds since 1970-01-01 00:00 UTC, without leap seconds.
    public static var now: Int64 {
        nanoseconds(of: CLOCK_REALTIME)
    }

    /// Milliseconds since 1970-01-01 00:00 UTC, without leap seconds.
    public static var milliseconds: Int64 { now / 1_000_000 }

    /// Whether the kernel knows of something that keeps the clock right, such as a time server (adjtimex(2)).
    public static var isSynchronized: Bool { linux_clock_is_synchronized() }
}

/// What threads and the process have cost so far, for measurements.
public enum ProcessorClock {
    /// The processor time that the calling thread has used, in nanoseconds.
    public static var thread: Int64 {
        nanoseconds(of: CLOCK_THREAD_CPUTIME_ID)
    }

    /// The processor time that all threads of the process have used, in nanoseconds.
    public static var process: Int64 {
        nanoseconds(of: CLOCK_PROCESS_CPUTIME_ID)
    }
}

/// The reading of `clock` in nanoseconds; 0 for a clock that does not exist.
func nanoseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    guard clock_gettime(clock, &time) == 0 else { return 0 }
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
}
