import Transport

/// Connectivity checks for sessions that are not known yet. They wait until the messages that were posted before they
/// arrived have run, because one of those may add the session. If there are several shards, other datagrams from
/// addresses that no shard holds wait as well, because a message may be the claim of one.
///
/// Anybody can send such datagrams. So only a few are kept, they are small, and they stay for one batch of datagrams.
struct EarlyChecks {
    struct Check {
        var bytes: [UInt8]
        var path: DatagramPath
    }

    /// As many datagrams as one batch holds.
    static let maximumCount = 32
    /// A check has some 100 to 200 bytes.
    static let maximumBytes = 8 * 1024

    private var checks: [Check] = []
    private var byteCount = 0

    var isEmpty: Bool { checks.isEmpty }

    /// Keeps a copy of a datagram. False when there are too many.
    mutating func hold(_ datagram: UnsafeRawBufferPointer, _ path: DatagramPath) -> Bool {
        guard checks.count < Self.maximumCount, byteCount + datagram.count <= Self.maximumBytes else { return false }
        checks.append(Check(bytes: Array(datagram), path: path))
        byteCount += datagram.count
        return true
    }

    /// Removes all checks and returns them in the order in which they arrived.
    mutating func takeAll() -> [Check] {
        defer {
            checks = []
            byteCount = 0
        }
        return checks
    }
}
