/// What is due at a time.
struct Deadline: Sendable {
    /// The reasons to look again.
    enum Reason: Sendable, Hashable {
        /// A strand of a run waits until then. The token says which wait it is.
        case strand(runID: String, strand: Int, token: Int)
        /// A run is too long.
        case runLength(runID: String)
        /// A schedule has a moment.
        case schedule(automationID: String, token: Int)
        /// The wall clock may have been set.
        case wallClock
    }

    /// The time by ``EngineTime/uptime``.
    var at: Int64
    var reason: Reason
}

/// Deadlines, of which the earliest is found at once (a binary heap).
struct DeadlineHeap: Sendable {
    private var items: [Deadline] = []

    var count: Int { items.count }
    var earliest: Int64? { items.first?.at }

    mutating func insert(_ deadline: Deadline) {
        items.append(deadline)
        var child = items.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard items[child].at < items[parent].at else { return }
            items.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes the earliest deadline, if it is due.
    mutating func popDue(at now: Int64) -> Deadline? {
        guard let first = items.first, first.at <= now else { return nil }
        removeFirst()
        return first
    }

    private mutating func removeFirst() {
        items.swapAt(0, items.count - 1)
        items.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < items.count && items[child].at < items[least].at
            {
                least = child
            }
            guard least != parent else { return }
            items.swapAt(parent, least)
            parent = least
        }
    }

    /// Drops the deadlines that nothing waits for now.
    mutating func filter(_ isCurrent: (Deadline) -> Bool) {
        let kept = items.filter(isCurrent)
        items.removeAll(keepingCapacity: true)
        for deadline in kept { insert(deadline) }
    }
}
