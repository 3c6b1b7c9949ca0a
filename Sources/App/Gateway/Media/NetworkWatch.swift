import Transport

/// Decides from what is seen of the network whether the STUN servers have to be asked again before they would be anyway.
struct NetworkWatch {
    /// The least between two such questions: an interface that comes and goes must not trouble the servers.
    static let shortestInterval = Duration.seconds(15)

    private var hosts: Set<TransportAddress>?
    private var mayHaveChanged = false
    private var last: Instant?

    /// Takes what is seen now.
    /// - Parameters:
    ///   - addresses: those of this host.
    ///   - hasReturned: whether names that could not be looked up have addresses again.
    ///   - now: the time.
    /// - Returns: whether to ask now. The first look is no reason.
    mutating func asks(hosts addresses: Set<TransportAddress>, hasReturned: Bool = false, at now: Instant) -> Bool {
        if hasReturned || hosts.map({ $0 != addresses }) ?? false { mayHaveChanged = true }
        hosts = addresses
        // Without an address there is nothing to ask from.
        guard mayHaveChanged, !addresses.isEmpty else { return false }
        if let last, now - last < Self.shortestInterval { return false }
        mayHaveChanged = false
        last = now
        return true
    }
}
