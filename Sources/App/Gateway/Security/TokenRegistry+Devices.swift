import HomeHub
import HomeTypes
import Transport

/// Grants for single devices.
extension TokenRegistry {
    /// The tokens that work and have a grant for one device alone.
    nonisolated func tokens(forDevice id: String) -> [Stored] {
        all.filter { $0.record.access.grants.contains { $0.deviceID == id } }
            .sorted { $0.record.name < $1.record.name }
    }

    /// Takes away all grants for a device that is gone. A token that has no other grant is revoked.
    func removeGrants(forDevice id: String) async throws(HomeError) {
        for stored in tokens(forDevice: id) {
            // It may have been revoked meanwhile, by itself or with the one that made it.
            do throws(HomeError) {
                let left = try await change(stored.record.id) { record in
                    record.access.grants.removeAll { $0.deviceID == id }
                }
                if left.record.access.grants.isEmpty { try await revoke(left.record.id) }
            } catch  where error.code == .notFound {}
        }
    }

    /// A device belongs to another structure now. Ends what the holders of tokens for whole structures have of it and may
    /// no longer have, and the grants for this device alone that such tokens have given. Nobody else notices.
    ///
    /// Another change may have moved it on. Each move counts by itself, so that those who lose the device by either of the two
    /// lose it, in whichever order the moves come here. A token that has the device where it is now keeps the grants that it has
    /// given for it. It may have given them after the device came back, but before the report of its departure came here.
    /// - Parameter former: the tokens that worked before the move. A token may lose the former structure after the move, but
    ///   before the move comes here. Neither of the two changes alone shows that it has lost the device.
    func follow(_ move: DeviceMove, heldBefore former: [Stored]) async throws(HomeError) {
        let id = move.deviceID
        let object = Access.Object.device(id, structureID: move.structureID)
        let formerObject = Access.Object.device(id, structureID: move.former)
        let held = Dictionary(former.map { ($0.record.id, $0.record.access) }) { first, _ in first }
        // What cannot be stored must not keep those who lose the device from losing it.
        var failure: HomeError?
        for maker in all {
            let (makerID, access) = (maker.record.id, maker.record.access)
            let before = access.scopes(for: formerObject).union(held[makerID]?.scopes(for: formerObject) ?? [])
            let lost = before.subtracting(access.scopes(for: object))
            guard !lost.isEmpty else { continue }
            let now = self.now()
            for made in all where made.record.createdBy == maker.record.name {
                // It may have ended meanwhile, by itself or with the one that made it.
                do throws(HomeError) {
                    try await change(made.record.id) { record in
                        // The maker may have fewer rights than when the move came here, and the device may have moved in the
                        // meantime.
                        let left = lost.subtracting(scopes(of: makerID, forDevice: id))
                        record.access = record.access.without(left, ofDevice: id)
                        if record.access.grants.isEmpty { record.revoke(at: now) }
                    }
                } catch {
                    if error.code != .notFound { failure = failure ?? error }
                }
            }
        }
        for stored in all {
            let access = stored.record.access
            guard access.scopes(for: formerObject) != access.scopes(for: object) else { continue }
            await onChange(stored.record.name, access)
        }
        if let failure { throw failure }
    }

    /// The scopes that a token has for a device, both as they are now.
    private nonisolated func scopes(of token: String, forDevice id: String) -> Set<Caller.Scope> {
        guard let access = index.withLock({ $0.records[token]?.record.access }) else { return [] }
        return access.scopes(for: .device(id, structureID: structure(ofDevice: id)))
    }
}
