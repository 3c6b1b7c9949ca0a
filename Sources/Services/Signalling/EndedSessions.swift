import Transport

/// What has ended recently and whose it was, so that ending it again is not an error for its principal.
///
/// Bounded in time and in number: if there are too many, the principal with the most entries loses its oldest. So a
/// principal that ends thousands of sessions pushes out only its own.
struct EndedSessions {
    /// What ended.
    enum Kind: Hashable, Sendable {
        case liveView, publisher, clip
    }

    /// An entry that has ended.
    struct Entry: Equatable, Sendable {
        let id: String
        let kind: Kind
        let deviceID: String
        let principal: String
        /// Why the session ended; nil for a clip.
        let reason: SessionEnd?
        let end: Instant
    }

    /// How long an end is kept.
    static let lifetime: Duration = .seconds(3_600)
    /// How many ends are kept.
    static let capacity = 4_096

    private var entries: [String: Entry] = [:]
    /// Each principal's identifiers, oldest first.
    private var order: [String: [String]] = [:]

    /// How many ends there are.
    var count: Int { entries.count }

    /// Records an end.
    mutating func record(
        _ id: String, _ kind: Kind, deviceID: String, principal: String, reason: SessionEnd? = nil, at now: Instant
    ) {
        guard entries[id] == nil else { return }
        entries[id] = Entry(
            id: id, kind: kind, deviceID: deviceID, principal: principal, reason: reason, end: now)
        order[principal, default: []].append(id)
        forget(before: now)
        guard entries.count > Self.capacity else { return }
        // Each turn removes one, and there was one too many.
        if let most = order.max(by: { $0.value.count < $1.value.count })?.key { removeOldest(of: most) }
    }

    /// The entry of this identifier, while it is kept.
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
