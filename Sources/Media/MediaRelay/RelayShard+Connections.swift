import ICE
import PeerConnection
import Transport

/// The TCP connections of a session. A peer opens one for each pair of candidates and proves each by a check, so without a
/// bound one session could take the places of all others.
extension RelayShard {
    /// The most connections of a session that looks for a path, and of one that has found it.
    private static let maximumConnections = (looking: 4, settled: 2)

    /// Closes the oldest connections of a session that are beyond its share. The path in use is kept.
    func closeSpareConnections(of session: Session) {
        let used = session.peer.remoteAddress
        let spare = session.knownAddresses.filter { $0.address.route == .tcp && $0.address != used }
        let most = session.peer.pathKind == nil ? Self.maximumConnections.looking : Self.maximumConnections.settled
        let excess = spare.count - (used?.route == .tcp ? most - 1 : most)
        guard excess > 0 else { return }
        for known in spare.prefix(excess) {
            session.knownAddresses.removeAll { $0 == known }
            forget(known, of: session)
        }
    }
}
