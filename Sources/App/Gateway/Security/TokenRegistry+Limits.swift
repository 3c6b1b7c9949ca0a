import Foundation
import HomeTypes

/// No token leaves behind more than it has: what it has made loses what it loses.
extension TokenRegistry {
    /// A change of one record that is not written yet.
    struct Change: Sendable {
        var before: Stored
        var after: TokenRecord
    }

    /// A change of a token, with what follows from it for the tokens that it has made, and for those that these have made.
    /// - Returns: the changes, the first one first.
    nonisolated func consequences(of first: Change) -> [Change] {
        let (now, records) = (self.now(), self.records)
        var order = [first.before.record.id]
        var changes = [first.before.record.id: first]
        var steps = [(before: first.before.record, after: first.after)]
        // Each step takes rights away, so there is an end even where two tokens have made each other.
        while let step = steps.popLast() {
            for (id, stored) in records where stored.record.createdBy == step.before.name && id != step.before.id {
                let former = changes[id]?.after ?? stored.record
                guard former.works(at: now) else { continue }
                let left = former.limited(
                    from: step.before, to: step.after, at: now, structureOf: { structure(ofDevice: $0) })
                guard left != former else { continue }
                if changes[id] == nil { order.append(id) }
                changes[id] = Change(before: stored, after: left)
                steps.append((before: former, after: left))
            }
        }
        return order.compactMap { changes[$0] }
    }

    /// The tokens that work although the one that made them does not exist: it was taken out of the file, or an earlier
    /// version stopped while it was being revoked. What the owner has made stays, and what outlives a token that has ended
    /// by itself was given that time by somebody else.
    /// - Parameter holders: the principals of the file.
    static func orphans(among records: [String: Stored], holders: [String]) -> [Stored] {
        var left = records.values.filter { $0.record.revokedAt == nil }.sorted { $0.record.id < $1.record.id }
        var orphans: [Stored] = []
        while true {
            let makers = Set(holders + [TokenStore.owner] + left.map(\.record.name))
            let found = left.filter { !makers.contains($0.record.createdBy) }
            guard !found.isEmpty else { return orphans }
            orphans += found
            left.removeAll { !makers.contains($0.record.createdBy) }
        }
    }

    /// Fails unless somebody's token permits something now. The body of a request, and a camera's answer, may take a
    /// while, and the token may have lost rights meanwhile.
    /// - Parameter access: what it must permit; nil for all that it permitted when the request came.
    /// - Throws: `unauthenticated` for a token that does not work any more, `permissionDenied` for one that permits less.
    nonisolated func requireStill(_ caller: Authorization, toGive access: Access? = nil) throws(HomeError) {
        // The tokens of the file do not change while the gateway runs.
        guard let digest = caller.secretDigest else { return }
        guard let (own, _) = secret(withDigest: digest) else {
            throw .unauthenticated("the token no longer works")
        }
        guard own.record.access.includes(access ?? caller.access, structureOf: { structure(ofDevice: $0) }) else {
            throw .notGranted("the token of \(caller.principal) has just lost rights; send the request again")
        }
    }

    /// The same for what somebody gives to another token until a time.
    /// - Parameter end: when the other token ends; nil for one that does not.
    nonisolated func requireStill(
        _ caller: Authorization, toGive access: Access, until end: Date?
    ) throws(HomeError) {
        try requireStill(caller, toGive: access)
        guard let digest = caller.secretDigest, let (own, _) = secret(withDigest: digest) else { return }
        guard !TokenRecord.outlives(end, own.record.expiresAt) else {
            throw .permissionDenied("your own token ends before that, and no token that you make may outlive it")
        }
    }
}
