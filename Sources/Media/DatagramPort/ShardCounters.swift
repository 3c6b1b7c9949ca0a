import Synchronization

/// What a ``ShardThread`` has done since it was started.
public struct ShardCounters: Hashable, Sendable {
    /// How often it woke up.
    public var turns = 0
    /// Batches of datagrams passed to the handler.
    public var batches = 0
    /// Posted closures that have run.
    public var messages = 0
    /// Deadlines that have been handled.
    public var deadlines = 0
    /// How often the handler left a deadline in the past, and the thread paused instead of spinning.
    public var overdueDeadlines = 0
    /// The longest time from one wake-up to the next wait, since the counters were last read.
    public var longestTurn = Duration.zero
    /// Processor time that the thread has used.
    public var processorTime = Duration.zero
    /// Posted closures that wait.
    public var waitingMessages = 0
}

/// The running counts behind ``ShardCounters``. The thread is the only one that adds to them.
struct ShardMeters: ~Copyable, Sendable {
    let turns = Atomic(0)
    let batches = Atomic(0)
    let messages = Atomic(0)
    let deadlines = Atomic(0)
    let overdueDeadlines = Atomic(0)
    let longestTurn = Atomic<Int64>(0)
    /// Set when the thread ends; until then its clock is read.
    let finalProcessorTime = Atomic<Int64>(0)

    static func add(_ count: Int, to meter: borrowing Atomic<Int>) {
        // Only one thread writes, so the addition needs no lock.
        meter.store(meter.load(ordering: .relaxed) &+ count, ordering: .relaxed)
    }

    func countTurn(_ length: Int64) {
        Self.add(1, to: turns)
        if length > longestTurn.load(ordering: .relaxed) { longestTurn.store(length, ordering: .relaxed) }
    }
}
