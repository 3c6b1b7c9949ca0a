public import Transport

extension ConnectionLedger {
    /// The connections of one server of which the oldest gives way to a new one: those of its own host where that has
    /// its share, and otherwise those of the hosts with the most. So a few hosts that open connections without end
    /// replace their own, and a user's is kept until it has signed in. Nil while there is room.
    ///
    /// - Parameters:
    ///   - peer: Where the new one comes from.
    ///   - strangers: The connections that have not signed in.
    ///   - isFull: Whether the server has as many connections as it may.
    ///   - perHost: How many strangers of one host there may be.
    ///   - origin: Where a connection comes from.
    public static func yielding<Connection>(
        to peer: TransportAddress, among strangers: [Connection], isFull: Bool, perHost: Int,
        from origin: (Connection) -> TransportAddress
    ) -> [Connection]? {
        let hosts = Dictionary(grouping: strangers) { host(of: origin($0)) }
        let own = hosts[host(of: peer)] ?? []
        if own.count >= perHost { return own }
        guard isFull else { return nil }
        let most = hosts.values.map(\.count).max() ?? 0
        return hosts.values.filter { $0.count == most }.flatMap { $0 }
    }
}
