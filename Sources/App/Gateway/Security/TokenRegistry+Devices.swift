import HomeTypes

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
}
