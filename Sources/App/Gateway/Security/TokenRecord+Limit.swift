import Foundation
import HomeTypes

extension TokenRecord {
    /// This record after the token that made it has changed: it has nothing of what the other one has lost.
    ///
    /// A token ends with the one that made it, and with its password: whoever knew the old one may have made the token.
    /// What somebody else gave it beyond the rights and the end of its maker stays.
    /// - Parameters:
    ///   - before: the maker's record before the change.
    ///   - after: the maker's record now.
    ///   - now: the wall clock.
    ///   - structureOf: the structure of a device.
    func limited(
        from before: TokenRecord, to after: TokenRecord, at now: Date,
        structureOf: (_ device: String) -> String?
    ) -> TokenRecord {
        var left = self
        guard after.works(at: now), before.password == after.password else {
            left.revoke(at: now)
            return left
        }
        left.access = access.limited(from: before.access, to: after.access, structureOf: structureOf)
        if left.access != access, left.access.grants.isEmpty { left.revoke(at: now) }
        if let end = after.expiresAt, Self.outlives(expiresAt, end), !Self.outlives(expiresAt, before.expiresAt) {
            left.expiresAt = end
        }
        return left
    }

    /// Whether something that ends at one moment lasts longer than something that ends at another; nil never ends.
    static func outlives(_ end: Date?, _ other: Date?) -> Bool {
        guard let other else { return false }
        return end.map { $0 > other } ?? true
    }
}
