import Transport

/// What a shard looks at when a deadline has come.
enum DeadlineKey: Hashable {
    case session(SessionHandle)
    case track(TrackHandle)
    case reflexiveAddresses
}

/// The deadlines of everything that lives on one shard. The tracks hold it as well, because a viewer's feedback can set
/// a track's deadline.
final class ShardDeadlines {
    private var queue = DeadlineQueue<DeadlineKey>()

    /// The earliest deadline.
    var next: Instant? { queue.next }

    /// Asks for a look at `key` no later than `deadline`.
    func schedule(_ key: DeadlineKey, at deadline: Instant) { queue.schedule(key, at: deadline) }

    /// Forgets `key`.
    func remove(_ key: DeadlineKey) { queue.remove(key) }

    /// Takes out what is due, nil when nothing is.
    func popDue(at now: Instant) -> DeadlineKey? { queue.popDue(at: now) }
}
