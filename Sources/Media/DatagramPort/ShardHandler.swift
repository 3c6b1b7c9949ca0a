public import Transport

/// What runs on a ``ShardThread``: the sessions of one shard.
///
/// An object lives only on its thread, from its creation to its end. So it needs no lock and is not `Sendable`.
public protocol ShardHandler: AnyObject, SendableMetatype {
    /// The thread is awake, and its messages have run: something may wait elsewhere that ``ShardAddress/wake()`` was called
    /// for. Called once in each turn, before datagrams.
    func handleWake(at now: Instant)

    /// Datagrams have arrived. They are valid until the method returns.
    func handleDatagrams(_ datagrams: DatagramBatch, at now: Instant)

    /// ``nextDeadline`` has passed.
    func handleDeadline(at now: Instant)

    /// Whether a datagram that has arrived can be judged only after all messages that were posted before it have run.
    /// It is read after each batch of datagrams and after ``handleWake(at:)``.
    var awaitsMessages: Bool { get }

    /// All messages that were posted before the last datagrams arrived have run. Called only if ``awaitsMessages`` is
    /// true.
    func handleMessagesTaken(at now: Instant)

    /// Whether nobody waits for the datagrams of the last batch, and so probably not for those that come next. They may then
    /// be read some at a time (``ReadingPace``). It is read after each batch.
    var mayReadLater: Bool { get }

    /// When to call ``handleDeadline(at:)``; nil for never. It is read before and after each wait, so it must not be counted
    /// from the time at which it is read: such a deadline never comes.
    var nextDeadline: Instant? { get }

    /// The thread is about to end. Messages that were posted before have been handled. The port can still send.
    func handleStop(at now: Instant)
}

extension ShardHandler {
    public func handleWake(at now: Instant) {}
    public func handleStop(at now: Instant) {}
    public var awaitsMessages: Bool { false }
    public var mayReadLater: Bool { false }
    public func handleMessagesTaken(at now: Instant) {}
}
