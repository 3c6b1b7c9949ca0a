public import Transport

/// The connections that a server refuses, or closes to make room for newer ones: which of them are reported, and which hosts
/// are ignored for a moment.
public struct RefusedConnections: Sendable {
    /// A client that keeps opening connections must not fill the log.
    static let reportInterval = Duration.seconds(60)

    private let listeners: [Int32]
    private var flood = FloodFilter()
    private var reported: Instant?

    /// No connection has been refused.
    /// - Parameter listeners: The descriptors of the server's listening sockets, which stay open while this is used.
    public init(listeners: [Int32]) { self.listeners = listeners }

    /// Records that a connection was refused, or gave way to a newer one. A host whose connections keep ending like that
    /// has its packets dropped for a moment, so that connections of others are accepted.
    /// - Returns: Whether to report it: the first one, and then at most one a minute.
    public mutating func record(_ peer: TransportAddress, at now: Instant) -> Bool {
        if flood.recordRefusal(of: peer, at: now) { applyFlood() }
        if let reported, now - reported < Self.reportInterval { return false }
        reported = now
        return true
    }

    /// When the next host is accepted again; nil while none is ignored.
    public var nextDeadline: Instant? { flood.nextDeadline }

    /// Accepts the hosts again whose time is over.
    public mutating func expire(at now: Instant) {
        if flood.expire(at: now) { applyFlood() }
    }

    private func applyFlood() {
        // If the kernel cannot filter, the connections are refused one by one.
        for listener in listeners { flood.apply(to: listener) }
    }
}
