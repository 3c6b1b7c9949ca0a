import Glibc
public import Transport

/// The clock that every deadline is measured on. It never goes back, and does not count time spent suspended.
public enum MonotonicClock {
    /// Nanoseconds since the machine's start.
    public static var now: Instant {
        Instant(nanoseconds: nanoseconds(of: CLOCK_MONOTONIC))
    }
}

/// The time of day: for sender reports, for time stamps that leave the process, and for nothing that measures.
public enum WallClock {
    /// Nanoseconds since 1970-01-01 00:00 UTC, without leap seconds.
    public static var now: Int64 {
        nanoseconds(of: CLOCK_REALTIME)
    }
}

/// The processor time that the calling thread has used, in nanoseconds.
func threadProcessorTime() -> Int64 {
    nanoseconds(of: CLOCK_THREAD_CPUTIME_ID)
}

/// What `clock` shows, in nanoseconds; 0 for a clock that does not exist (any more).
func nanoseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    guard clock_gettime(clock, &time) == 0 else { return 0 }
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
}
