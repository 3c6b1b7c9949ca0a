import MediaRelay
import Transport

extension LiveViewService {
    /// Reserves a place for a session that is being started. If there is none, views that never connected give way.
    func takePlace(deviceID: String, principal: String) async throws(SignallingError) -> SessionLedger.Reservation {
        // Each turn ends a lease, and their number is limited.
        while let obstacle = ledger.obstacle(deviceID: deviceID, principal: principal) {
            guard let abandoned = abandoned(for: principal, at: obstacle, deviceID: deviceID) else {
                throw obstacle.error
            }
            await end(abandoned, because: .gaveWay)
        }
        return try ledger.reserve(deviceID: deviceID, principal: principal)
    }

    /// The view that gives way first: the oldest of the principal with the most views that never connected.
    ///
    /// It must be one that the obstacle counts. A view of the owner gives way only to the owner.
    private func abandoned(
        for principal: String, at obstacle: SessionLedger.Obstacle, deviceID: String
    ) -> String? {
        let now = now
        let candidates = ledger.leases.values.filter { lease in
            if obstacle.scope == .camera, lease.deviceID != deviceID { return false }
            switch obstacle.refusal {
            case .share where lease.principal != principal: return false
            case .full, .reserved, .share:
                if lease.principal == PlaceShares.owner, principal != PlaceShares.owner { return false }
            }
            guard now - lease.start >= configuration.connectingGrace else { return false }
            return sessions[lease.sessionID].map { !$0.status.isConnected } ?? true
        }
        let counts = candidates.reduce(into: [:]) { $0[$1.principal, default: 0] += 1 }
        return candidates.min { left, right in
            let (leftCount, rightCount) = (counts[left.principal] ?? 0, counts[right.principal] ?? 0)
            if leftCount != rightCount { return leftCount > rightCount }
            return (left.start, left.sessionID) < (right.start, right.sessionID)
        }?.sessionID
    }
}
