import Foundation
import HomeTypes
import Transport

/// The records of tokens that have ended. Nothing shows them, so they are removed after a while.
extension TokenRegistry {
    /// How long a record stays after the end of its token.
    static let endedLifetime: TimeInterval = 30 * 86_400
    /// How often in a row a record has to be found old, once a minute. A token that has ended because the clock is ahead works
    /// again when the clock is right, so a clock that is wrong for less than an hour must not remove it.
    static let endedChecks = 60
    /// How many records are removed at once: each costs a write to the disk.
    static let endedBatch = 64

    /// Removes the records of tokens that ended long ago, the oldest first. It is called once a minute.
    func removeEnded() {
        let now = self.now()
        let (records, isDamaged) = index.withLock { ($0.records, !$0.unreadable.isEmpty) }
        let old = records.values
            .compactMap { stored in stored.record.end(by: now).map { (stored: stored, end: $0) } }
            // What the holder had has ended, too.
            .filter { now.timeIntervalSince($0.end) >= Self.endedLifetime && expired.contains($0.stored.record.id) }
            .sorted { ($0.end, $0.stored.record.id) < ($1.end, $1.stored.record.id) }
            .map(\.stored)
        oldRecords = Dictionary(uniqueKeysWithValues: old.map { ($0.record.id, (oldRecords[$0.record.id] ?? 0) + 1) })
        // An unreadable record may be that of any principal without a record.
        guard !isDamaged else { return }
        let removable = old.filter { oldRecords[$0.record.id, default: 0] >= Self.endedChecks }
        let makers = Self.makers(of: records, without: removable)
        for stored in removable.filter({ !makers.contains($0.record.id) }).prefix(Self.endedBatch) {
            // What the disk refuses now is removed next time.
            do throws(HomeError) { try remove(stored) } catch { return }
        }
    }

    /// Whether somebody has no rights only because the time of a token is over. The clock may be ahead: then the token
    /// works again once the clock is right. So what its holder has registered stays for as long as the record.
    func mayReturn(_ principal: String) -> Bool {
        let now = self.now()
        let own = records.values.map(\.record).filter { $0.name == principal }
        guard !own.contains(where: { $0.works(at: now) }),
            let newest = own.max(by: { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }), newest.revokedAt == nil
        else { return false }
        return oldRecords[newest.id, default: 0] < Self.endedChecks
    }

    /// When the last token of the API ended that had the name of a token of the file; nil where there was none. Nobody
    /// compares the names when the file is written, so what was registered until then may be another person's.
    nonisolated func formerEnd(of principal: String) -> Date? {
        guard file.holders.contains(where: { $0.name == principal }) else { return nil }
        let now = self.now()
        return records.values.filter { $0.record.name == principal }.compactMap { $0.record.end(by: now) }.max()
    }

    /// The old records that others need: a token whose maker does not exist is revoked at the next start. A revoked token has
    /// made nothing that works.
    private static func makers(of records: [String: Stored], without old: [Stored]) -> Set<String> {
        var unneeded = old.filter { $0.record.revokedAt == nil }
        let removed = Set(old.map(\.record.id))
        var needed = records.values.filter { $0.record.revokedAt == nil && !removed.contains($0.record.id) }
        var makers: Set<String> = []
        while !needed.isEmpty {
            let names = Set(needed.map(\.record.createdBy))
            needed = unneeded.filter { names.contains($0.record.name) }
            unneeded.removeAll { names.contains($0.record.name) }
            makers.formUnion(needed.map(\.record.id))
        }
        return makers
    }
}

extension TokenRecord {
    /// When the token ended; nil while it works.
    func end(by now: Date) -> Date? {
        works(at: now) ? nil : [revokedAt, expiresAt].compactMap(\.self).min()
    }
}
