public import Glibc

/// A value that one thread at a time may touch: like `Synchronization.Mutex`, but with the system's own mutex.
///
/// On Linux the standard library implements its mutex directly on a futex. Under contention it spins for a thousand
/// pauses before it waits, which two cores cannot spare. The thread sanitizer also does not see the order that it
/// establishes, so it reports races that do not exist.
public final class Locked<Value: ~Copyable>: @unchecked Sendable {
    // Proof for @unchecked: only `withLock` and `withLockIfAvailable` touch `value`, between locking and unlocking
    // `mutex`. Values that go in and come out there are `sending`.

    // It is inlinable, because the relay's threads lock with each wake-up: without its types known, a call looks them up.

    @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline var value: Value

    /// Makes a lock around `value`.
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

    /// Runs `body` while no other thread can touch the value. `body` must not lock the same value again.
    @inlinable
    public func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Runs `body` if no other thread touches the value at the moment; returns nil otherwise.
    public func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        guard pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
