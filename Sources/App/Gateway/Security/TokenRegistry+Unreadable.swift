import Foundation
import HomeHub
import HomeTypes
import Transport

/// The records of tokens that could not be read at the start.
///
/// Their tokens do not work. What their holders may do is not known, which is less than knowing that they may do nothing:
/// what they have ordered does not end because a file is damaged.
struct UnreadableTokens: Sendable {
    /// A record that cannot be read.
    struct Record: Sendable, Equatable {
        var version: Int64
        /// Its holder; nil where not even that can be read.
        var name: String?
    }

    /// By the ids of the tokens.
    private(set) var records: [String: Record] = [:]
    /// Whether no record could be read at all.
    var areAll = false
    /// The principals of which it was said that nothing is known.
    var doubted: Set<String> = []

    var isEmpty: Bool { records.isEmpty && !areAll }

    private struct Head: Codable {
        var name: String
    }

    /// Adds a record that is not one.
    mutating func add(_ object: SharedObject) {
        let head = try? JSONDecoder().decode(Head.self, from: Data(object.body.utf8))
        records[object.id] = Record(version: object.version, name: head?.name)
    }

    /// Another record has taken the place of one that could not be read.
    mutating func remove(_ id: String) { records[id] = nil }

    /// Whether a principal may hold one of them.
    /// - Parameter isKnown: whether a record with its name can be read.
    func mayBelong(to principal: String, isKnown: Bool) -> Bool {
        if records.values.contains(where: { $0.name == principal }) { return true }
        // A record without a name may be anybody's who has no other one.
        return !isKnown && (areAll || records.values.contains { $0.name == nil })
    }

    /// What the owner has to know; nil when there are none.
    var reason: String? {
        guard !isEmpty else { return nil }
        let follows =
            "their holders' recordings continue but are not uploaded, and their automations wait. Restore "
            + "shared.sqlite from a copy, as the document configuration.md describes"
        guard !areAll else { return "the tokens of the API cannot be read and do not work; \(follows)" }
        let (shown, count) = (records.keys.sorted().prefix(5), records.count)
        let names = shown.joined(separator: ", ") + (count > shown.count ? " and \(count - shown.count) more" : "")
        return "these tokens cannot be read and do not work: \(names); \(follows), or revoke them"
    }
}

extension TokenRegistry {
    /// Whether it is not known what a principal may do, because its record may be one that cannot be read. A principal with
    /// a token that works is known, and so is one whose token has ended.
    nonisolated func isUnknown(_ principal: String) -> Bool {
        if file.holders.contains(where: { $0.name == principal }) { return false }
        let now = self.now()
        return index.withLock { index -> Bool in
            guard !index.unreadable.isEmpty else { return false }
            let own = index.records.values.filter { $0.record.name == principal }
            guard !own.contains(where: { $0.record.works(at: now) }),
                index.unreadable.mayBelong(to: principal, isKnown: !own.isEmpty)
            else { return false }
            index.unreadable.doubted.insert(principal)
            return true
        }
    }

    /// Whether a record cannot be read.
    nonisolated func isUnreadable(_ id: String) -> Bool { index.withLock { $0.unreadable.records[id] != nil } }

    /// Raises an alarm about the records that cannot be read, and ends it when there are none any more.
    func reportUnreadable(to hub: HomeHub) async {
        onUnreadable = { [weak hub, now] reason in
            await hub?.take(
                HomeAlarm(
                    .tokensUnreadable, reason == nil ? .cleared : .raised, reason: reason ?? "every token can be read",
                    at: now()))
        }
        await onUnreadable(index.withLock { $0.unreadable.reason })
    }

    /// Revokes a token whose record cannot be read. Its holder may do nothing from now on, and that is known.
    func revoke(
        _ unreadable: UnreadableTokens.Record, _ id: String, expecting version: Int64?
    ) async throws(HomeError) {
        guard version == nil || version == unreadable.version else {
            throw .aborted("the token has been changed; read it again")
        }
        // The tokens that were made with it go with it, as with any other, and before it: so the request can be repeated.
        if let name = unreadable.name, access(of: name) == .nothing {
            for made in all where made.record.createdBy == name {
                // It may have ended meanwhile, by itself or with another one that is revoked here.
                do throws(HomeError) {
                    try await revoke(made.record.id)
                } catch  where error.code == .notFound {}
            }
        }
        let now = self.now()
        let record = TokenRecord(
            id: id, name: unreadable.name ?? id, access: .nothing, createdAt: now, createdBy: TokenStore.owner,
            revokedAt: now, secrets: [])
        _ = try write(Stored(record: record, version: unreadable.version))
        let doubted = index.withLock { index -> Set<String> in
            index.unreadable.remove(id)
            return index.unreadable.doubted
        }
        // Their recordings end, and what waits for its upload is discarded.
        for principal in doubted.sorted() where !isUnknown(principal) {
            index.withLock { _ = $0.unreadable.doubted.remove(principal) }
            await onChange(principal, access(of: principal))
        }
        await onUnreadable(index.withLock { $0.unreadable.reason })
    }
}
