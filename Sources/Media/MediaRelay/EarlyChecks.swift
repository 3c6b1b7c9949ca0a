import Transport

/// Connectivity checks that name no session that is known yet. They wait until the messages that were posted before they
/// came have run: one of these may add the session.
///
/// Anybody can send such checks, so there are few of them, they are small, and they stay for one batch of datagrams.
struct EarlyChecks {
    struct Check {
        var bytes: [UInt8]
        var source: TransportAddress
        var local: TransportAddress
    }

    /// As many datagrams as one batch has.
    static let maximumCount = 32
    /// A check has some 100 to 200 bytes.
    static let maximumBytes = 8 * 1024

    private var checks: [Check] = []
    private var byteCount = 0

    var isEmpty: Bool { checks.isEmpty }

    /// Keeps a copy of a check. False when there are too many.
    mutating func hold(
        _ datagram: UnsafeRawBufferPointer, from source: TransportAddress, to local: TransportAddress
    ) -> Bool {
        guard checks.count < Self.maximumCount, byteCount + datagram.count <= Self.maximumBytes else { return false }
        checks.append(Check(bytes: Array(datagram), source: source, local: local))
        byteCount += datagram.count
        return true
    }

    /// Takes all checks out, in the order in which they came.
    mutating func takeAll() -> [Check] {
        defer {
            checks = []
            byteCount = 0
        }
        return checks
    }
}
