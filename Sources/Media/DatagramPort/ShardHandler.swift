public import Transport

/// What runs on a ``ShardThread``: the sessions of one shard.
///
/// An object lives on its thread only, from its making to its end, so it needs no lock and is not `Sendable`.
public protocol ShardHandler: AnyObject, SendableMetatype {
    /// Datagrams have arrived. They are valid until the method returns.
    func handleDatagrams(_ datagrams: DatagramBatch, at now: Instant)

    /// ``nextDeadline`` has passed.
    func handleDeadline(at now: Instant)

    /// Whether something that has arrived can only be judged once all messages that were posted before its arrival have
    /// run. It is read after each batch of datagrams.
    var awaitsMessages: Bool { get }

    /// Everything that was posted before the last datagrams arrived has run. Called only where ``awaitsMessages``.
    func handleMessagesTaken(at now: Instant)

    /// When ``handleDeadline(at:)`` shall be called; nil for never. It is read before each wait.
    var nextDeadline: Instant? { get }

    /// The thread is about to end. What was posted before has been handled; the port can still send.
    func handleStop(at now: Instant)
}

extension ShardHandler {
    public func handleStop(at now: Instant) {}
    public var awaitsMessages: Bool { false }
    public func handleMessagesTaken(at now: Instant) {}
}
