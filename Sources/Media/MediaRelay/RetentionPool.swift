import Synchronization

/// The memory that all rings together may hold beyond their ordinary limits, because somebody asked for it.
final class RetentionPool: Sendable {
    /// In bytes.
    let limit: Int
    private let used = Atomic<Int>(0)

    init(limit: Int) {
        self.limit = limit
    }

    /// How many bytes are in use.
    var usedBytes: Int { used.load(ordering: .relaxed) }

    fileprivate func take(_ bytes: Int) -> Bool {
        if used.wrappingAdd(bytes, ordering: .relaxed).newValue <= limit { return true }
        used.wrappingSubtract(bytes, ordering: .relaxed)
        return false
    }

    fileprivate func give(_ bytes: Int) {
        used.wrappingSubtract(bytes, ordering: .relaxed)
    }
}

/// One ring's part of a ``RetentionPool``. It returns to the pool with this object. Only the ring's thread changes it.
final class RetentionRoom: Sendable {
    let pool: RetentionPool
    private let held = Atomic<Int>(0)

    init(pool: RetentionPool) {
        self.pool = pool
    }

    deinit {
        pool.give(bytes)
    }

    /// The size of the part.
    var bytes: Int { held.load(ordering: .relaxed) }

    /// Makes the part at least this large. False if the pool does not have so much.
    func take(upTo wanted: Int) -> Bool {
        guard wanted > bytes else { return true }
        guard pool.take(wanted - bytes) else { return false }
        held.store(wanted, ordering: .relaxed)
        return true
    }

    /// Makes the part at most this large.
    func release(downTo wanted: Int) {
        guard wanted < bytes else { return }
        pool.give(bytes - wanted)
        held.store(wanted, ordering: .relaxed)
    }
}
