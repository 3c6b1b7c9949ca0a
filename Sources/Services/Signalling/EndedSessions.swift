import Transport

/// What has ended lately and whose it was, so that ending it again is no error for its principal.
///
/// Bounded in time and in number: when there are too many, the principal who has the most loses its oldest. Whoever ends
/// thousands of sessions so pushes out its own and nobody else's.
struct EndedSessions {
    /// What ended.
    enum Kind: Hashable, Sendable {
        case liveView, publisher, clip
    }

    /// One that has ended.
    struct Entry: Equatable, Sendable {
        let id: String
        let kind: Kind
        let deviceID: String
        let principal: String
        let end: Instant
    }

    /// How long an end is remembered.
    static let lifetime: Duration = .seconds(3_600)
    /// How many are remembered.
    static let capacity = 4_096

    private var entries: [String: Entry] = [:]
    /// Each principal's identifiers, oldest first.
    private var order: [String: [String]] = [:]

    /// How many are remembered.
    var count: Int { entries.count }

    /// Remembers an end.
    mutating func note(_ id: String, _ kind: Kind, deviceID: String, principal: String, at now: Instant) {
        guard entries[id] == nil else { return }
        entries[id] = Entry(id: id, kind: kind, deviceID: deviceID, principal: principal, end: now)
        order[principal, default: []].append(id)
        forget(before: now)
        guard entries.count > Self.capacity else { return }
        // Each turn takes one away, and there was one too many.
        if let most = order.max(by: { $0.value.count < $1.value.count })?.key { removeOldest(of: most) }
    }

    /// The entry of this identifier, while it is remembered.
    func entry(_ id: String, _ kind: Kind, at now: Instant) -> Entry? {
        guard let entry = entries[id], entry.kind == kind, now - entry.end < Self.lifetime else { return nil }
        return entry
    }

    private mutating func forget(before now: Instant) {
        for principal in Array(order.keys) {
            while let oldest = order[principal]?.first, let entry = entries[oldest], now - entry.end >= Self.lifetime {
                removeOldest(of: principal)
            }
        }
    }

    private mutating func removeOldest(of principal: String) {
        guard let id = order[principal]?.first else { return }
        entries[id] = nil
        order[principal]?.removeFirst()
        if order[principal]?.isEmpty == true { order[principal] = nil }
    }
}
