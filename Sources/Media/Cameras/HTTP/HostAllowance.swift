import Transport

/// Bounds how many hosts a camera makes the gateway look up and ask. It reads no clock.
struct HostAllowance {
    /// A stream needs one for its playlists, one for its segments and one for its keys. Some servers spread segments.
    static let maximum = 16
    /// A host that was not needed for so long makes place for another.
    static let memory = Duration.seconds(600)
    private var lastUses: [String: Instant] = [:]

    /// Whether a request to this host may be sent.
    mutating func admit(_ host: String, at now: Instant) -> Bool {
        let host = host.lowercased()
        if lastUses[host] == nil {
            lastUses = lastUses.filter { now - $0.value < Self.memory }
            guard lastUses.count < Self.maximum else { return false }
        }
        lastUses[host] = now
        return true
    }
}
