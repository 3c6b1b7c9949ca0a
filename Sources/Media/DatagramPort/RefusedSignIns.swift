public import Transport

/// Makes guessing passwords slow: each wrong one from a host delays its next answer.
///
/// The answers to all connections of a host share one queue, so opening many of them does not help. A correct password
/// is never delayed: somebody behind the same address who knows it gets in.
public struct RefusedSignIns: Sendable {
    private struct Record {
        var count = 0
        /// When the host's queue of answers ends.
        var busyUntil: Instant
        var last: Instant
    }

    /// The delay of the first answer; it doubles with each further one.
    public static let firstDelay = Duration.milliseconds(100)
    /// The longest delay between two answers.
    public static let maximumDelay = Duration.seconds(5)
    /// The longest delay: connections give up before.
    public static let maximumWait = Duration.seconds(20)
    /// A host without a wrong password for this long starts again.
    public static let memory = Duration.seconds(600)
    static let maximumHosts = 1024

    private var records: [TransportAddress: Record] = [:]

    /// No host has sent a wrong password.
    public init() {}

    /// Records a wrong password and returns when the host may get the answer.
    public mutating func refuse(_ peer: TransportAddress, at now: Instant) -> Instant {
        // The port, and in IPv6 the lower half of the address, belong to the host that has the upper half (RFC 6177).
        let host =
            peer.family == .ipv4 ? peer.withPort(0) : TransportAddress(ipv6High: peer.high, low: 0, port: 0)
        var record = records[host] ?? Record(busyUntil: now, last: now)
        if now - record.last > Self.memory { record.count = 0 }
        record.count = min(record.count + 1, 16)
        let delay = min(Self.firstDelay * (1 << (record.count - 1)), Self.maximumDelay)
        record.busyUntil = min(max(record.busyUntil, now) + delay, now + Self.maximumWait)
        record.last = now
        if records.count >= Self.maximumHosts, records[host] == nil { forgetOldest() }
        records[host] = record
        return record.busyUntil
    }

    private mutating func forgetOldest() {
        if let oldest = records.min(by: { $0.value.last < $1.value.last }) { records[oldest.key] = nil }
    }
}
