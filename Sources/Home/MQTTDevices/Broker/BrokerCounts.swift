/// What was sent and received over the connection to the broker, and what was dropped.
public struct BrokerCounts: Sendable, Hashable {
    /// How often the broker was connected.
    public var connections: UInt64 = 0
    /// The messages that it delivered.
    public var received: UInt64 = 0
    /// The bytes of their payloads.
    public var receivedBytes: UInt64 = 0
    /// The messages that a newer one of the same topic replaced, because the topic sent too many.
    public var superseded: UInt64 = 0
    /// The messages that did not find room.
    public var dropped: UInt64 = 0
    /// The messages that were sent.
    public var sent: UInt64 = 0
    /// The messages that could not be sent.
    public var unsent: UInt64 = 0
    /// The bytes that wait to be sent.
    public var outgoingBytes = 0
    /// The subscriptions.
    public var subscriptions = 0
    /// The subscriptions that the broker does not permit.
    public var refusedSubscriptions: UInt64 = 0

    /// Nothing yet.
    public init() {}
}
