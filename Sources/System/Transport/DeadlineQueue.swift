/// Which of many state machines has to be looked at next: a binary heap of deadlines.
///
/// A session's deadline changes with most datagrams, usually to a later one. So the heap keeps the deadline that it was
/// given, and its owner asks the session again when it comes. A deadline that has moved to a later time costs one extra
/// look, and no entry has to be found and removed.
///
/// It is inlinable, because the relay asks it with most datagrams and only other modules know the keys' type.
public struct DeadlineQueue<Key: Hashable> {
    @usableFromInline var heap: [(deadline: Instant, key: Key)] = []
    @usableFromInline var earliest: [Key: Instant] = [:]

    /// A queue without deadlines.
    @inlinable public init() {}

    /// How many entries there are, including those that have been replaced.
    @inlinable public var entryCount: Int { heap.count }

    /// The earliest deadline in the queue.
    @inlinable public var next: Instant? { heap.first?.deadline }

    /// Asks for a look at `key` no later than `deadline`.
    @inlinable public mutating func schedule(_ key: Key, at deadline: Instant) {
        if let known = earliest[key], known <= deadline { return }
        earliest[key] = deadline
        if heap.count > 2 * earliest.count + 64 {
            dropStale()
            return
        }
        heap.append((deadline, key))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].deadline < heap[parent].deadline else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Forgets `key`; its entries go when their time comes.
    @inlinable public mutating func remove(_ key: Key) {
        earliest[key] = nil
        if earliest.isEmpty { heap.removeAll(keepingCapacity: true) }
    }

    /// Removes and returns a key whose time has come; nil if there is none.
    @inlinable public mutating func popDue(at now: Instant) -> Key? {
        while let top = heap.first, top.deadline <= now {
            removeTop()
            if earliest[top.key] == top.deadline {
                earliest[top.key] = nil
                return top.key
            }
        }
        return nil
    }

    /// Deadlines that moved forward leave their old entries behind, which must not pile up.
    @inlinable mutating func dropStale() {
        heap.removeAll(keepingCapacity: true)
        // A sorted array is a heap.
        for (key, deadline) in earliest.sorted(by: { $0.value < $1.value }) { heap.append((deadline, key)) }
    }

    @inlinable mutating func removeTop() {
        let last = heap.removeLast()
        guard !heap.isEmpty else { return }
        heap[0] = last
        var parent = 0
        while true {
            var smallest = parent
            for child in (2 * parent + 1)...(2 * parent + 2)
            where child < heap.count && heap[child].deadline < heap[smallest].deadline {
                smallest = child
            }
            if smallest == parent { return }
            heap.swapAt(parent, smallest)
            parent = smallest
        }
    }
}

extension DeadlineQueue: Sendable where Key: Sendable {}
