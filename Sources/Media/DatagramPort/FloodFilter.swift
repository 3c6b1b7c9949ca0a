import CLinuxUDP
public import Transport

/// The hosts that a listening socket ignores for a moment, because it has refused many of their connections in a row. A
/// refusal costs far more than an attempt, and the connections of other hosts wait behind the refused ones.
///
/// The kernel drops the packets of these hosts before it makes a connection. Their existing connections go on.
public struct FloodFilter: Sendable {
    /// The number of refused connections in one ``period`` from which a host is ignored.
    public static let threshold = 16
    /// How long refusals are counted, and how long a host is ignored.
    public static let period = Duration.seconds(1)
    /// The most hosts that can be ignored at once.
    static let maximumHosts = 256

    private var refusals: [TransportAddress: Int] = [:]
    private var countedSince = Instant.zero
    private var ignored: [TransportAddress: Instant] = [:]

    /// A filter that ignores no host.
    public init() {}

    /// The hosts that are ignored.
    public var hosts: [TransportAddress] { Array(ignored.keys) }

    /// When the next host is accepted again; nil while none is ignored.
    public var nextDeadline: Instant? { ignored.values.min() }

    /// Records that a connection was refused. This machine is never ignored.
    /// - Returns: Whether the hosts have changed.
    public mutating func recordRefusal(of peer: TransportAddress, at now: Instant) -> Bool {
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

    /// Ignores these hosts without a time limit.
    mutating func ignore(_ hosts: [TransportAddress]) {
        for host in hosts { ignored[host] = .distantFuture }
    }

    /// Accepts the hosts again whose time is over.
    /// - Returns: Whether the hosts have changed.
    public mutating func expire(at now: Instant) -> Bool {
        let count = ignored.count
        ignored = ignored.filter { $0.value > now }
        return ignored.count != count
    }

    /// Passes the hosts to the kernel.
    /// - Returns: False when the kernel cannot filter; the connections are then refused one by one.
    @discardableResult
    public func apply(to descriptor: Int32) -> Bool {
        let sources = ignored.keys.map { linux_udp_address($0) }
        return sources.withUnsafeBufferPointer { linux_tcp_ignore_sources(descriptor, $0.baseAddress, $0.count) } == 0
    }
}
