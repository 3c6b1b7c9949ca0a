import CLinuxUDP
public import Transport

/// The hosts that a listening socket takes no notice of for a moment, because it has refused one connection of theirs
/// after the other: refusing costs far more than opening, and those of other hosts wait behind them.
///
/// The kernel drops what these hosts send before it makes a connection of it. Connections that they have already go on.
public struct FloodFilter: Sendable {
    /// How many refused connections in one ``period`` are too many.
    public static let threshold = 16
    /// How long refusals are counted, and how long a host is not heard.
    public static let period = Duration.seconds(1)
    /// How many hosts can be left unheard at once.
    static let maximumHosts = 256

    private var refusals: [TransportAddress: Int] = [:]
    private var countedSince = Instant.zero
    private var ignored: [TransportAddress: Instant] = [:]

    /// Hears everybody.
    public init() {}

    /// The hosts that are not heard.
    public var hosts: [TransportAddress] { Array(ignored.keys) }

    /// When the next host is heard again; nil while all are.
    public var nextDeadline: Instant? { ignored.values.min() }

    /// Notes that a connection was refused. This machine is always heard.
    /// - Returns: Whether the hosts have changed.
    public mutating func noteRefusal(of peer: TransportAddress, at now: Instant) -> Bool {
        let host = ConnectionLedger.host(of: peer)
        guard !host.isLoopback, ignored[host] == nil else { return false }
        if now - countedSince >= Self.period {
            refusals = [:]
            countedSince = now
        }
        refusals[host, default: 0] += 1
        guard refusals[host, default: 0] >= Self.threshold, ignored.count < Self.maximumHosts else { return false }
        ignored[host] = now + Self.period
        refusals[host] = nil
        return true
    }

    /// Does not hear these, whatever they did.
    mutating func ignore(_ hosts: [TransportAddress]) {
        for host in hosts { ignored[host] = .distantFuture }
    }

    /// Hears those again whose time is over.
    /// - Returns: Whether the hosts have changed.
    public mutating func expire(at now: Instant) -> Bool {
        let count = ignored.count
        ignored = ignored.filter { $0.value > now }
        return ignored.count != count
    }

    /// Tells the kernel.
    /// - Returns: False when it cannot do that; the connections are refused one by one then.
    @discardableResult
    public func apply(to descriptor: Int32) -> Bool {
        let sources = ignored.keys.map { linux_udp_address($0) }
        return sources.withUnsafeBufferPointer { linux_tcp_ignore_sources(descriptor, $0.baseAddress, $0.count) } == 0
    }
}
