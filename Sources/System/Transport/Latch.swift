import Glibc
import Synchronization

/// A flag that is set once, for good. Threads can wait until it is, for example to pause until somebody stops them.
public final class Latch: @unchecked Sendable {
    // Proof for @unchecked: the pointers are constant, and what they point to is made for use by several threads.

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    /// Set between locking and unlocking `mutex`, so no thread begins to wait after it was set.
    private let flag = Atomic(false)

    /// Makes a latch that is not set.
    public init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        // None of these can fail on Linux. A condition cannot wait by CLOCK_BOOTTIME, which `MonotonicClock` reads, so time
        // during which the machine is suspended does not count.
        pthread_mutex_init(mutex, nil)
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deinitialize(count: 1)
        condition.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
    }

    /// Whether it is set. This takes no lock.
    public var isSet: Bool { flag.load(ordering: .acquiring) }

    /// Sets it, and wakes every thread that waits. Setting it again has no effect.
    public func set() {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        flag.store(true, ordering: .releasing)
        pthread_cond_broadcast(condition)
    }

    /// Waits until it is set.
    public func wait() {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !isSet { pthread_cond_wait(condition, mutex) }
    }

    /// Waits until it is set, at most `duration`.
    /// - Returns: whether it is set.
    @discardableResult
    public func wait(atMost duration: Duration) -> Bool {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let end =
            Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)) + max(duration, .zero)
        time.tv_sec = Int(end.nanoseconds / 1_000_000_000)
        time.tv_nsec = Int(end.nanoseconds % 1_000_000_000)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        // A thread may be woken for no reason (POSIX). Any result but 0 means that the time is over.
        while !isSet, pthread_cond_timedwait(condition, mutex, &time) == 0 {}
        return isSet
    }
}
