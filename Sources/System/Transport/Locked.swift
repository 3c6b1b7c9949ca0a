import Glibc

/// A value that one thread at a time may touch: what `Synchronization.Mutex` is, on the system's own mutex.
///
/// The standard library's mutex is a futex of its own on Linux. Under contention it spins for a thousand pauses before
/// it waits, which two cores cannot spare, and the thread sanitizer does not see the order that it makes, so it reports
/// races that are none.
public final class Locked<Value: ~Copyable>: @unchecked Sendable {
    // Proof for @unchecked: `value` is touched in `withLock` and `withLockIfAvailable` alone, between locking and
    // unlocking `mutex`, and what goes in and comes out there is `sending`.

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    /// Takes `value` in.
    public init(_ value: consuming sending Value) {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        // With no attributes this cannot fail on Linux.
        pthread_mutex_init(mutex, nil)
        self.value = value
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
    }

    /// Runs `body` while no other thread can touch the value. It must not call itself for the same value.
    public func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Runs `body` if no other thread touches the value just now; answers nil otherwise.
    public func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        guard pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
