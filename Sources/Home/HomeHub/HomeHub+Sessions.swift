import HomeTypes
import Signalling

/// Live-view sessions. The signalling service reports each change; the hub keeps what it has reported to watchers.
extension HomeHub {
    /// The principal's live sessions. The one whose lease ends first comes first.
    public func sessions(principal: String) async -> [SessionSnapshot] {
        let now = self.now()
        return await signalling.views.sessions()
            .filter { $0.principal == principal }
            .map { SessionSnapshot($0, now: now) }
            .sorted { ($0.expiresAt, $0.session.mediaSessionId) < ($1.expiresAt, $1.session.mediaSessionId) }
    }

    /// One of the principal's live sessions.
    public func session(_ mediaSessionId: String, principal: String) async throws(HomeError) -> SessionSnapshot {
        guard let session = await signalling.views.session(mediaSessionId), session.principal == principal else {
            throw HomeError(.unknownSession)
        }
        return SessionSnapshot(session, now: now())
    }

    /// Reads a session that has changed, and reports the changes to the watchers: its start, the steps of the start, an
    /// extension, talk, its end.
    func readSession(_ id: String) async {
        let snapshot = await signalling.views.session(id)
        let earlier = knownSessions[id]
        guard let session = snapshot.map({ SessionSnapshot($0, now: now()) }) else {
            guard let earlier else { return }
            knownSessions[id] = nil
            var ended = earlier.ended
            ended.session.endReason = await signalling.views.end(of: id)?.words
            publish(.session(.ended, ended))
            return
        }
        if let earlier, !session.isNews(comparedTo: earlier) { return }
        knownSessions[id] = session
        publish(.session(earlier == nil ? .started : .changed, session))
    }

    /// Ends every session of every principal, because the gateway is stopping.
    /// - Returns: how many were ended.
    public func endAllSessions() async -> Int {
        var ended = 0
        for lease in await signalling.views.leases() {
            let session = SessionReference(lease.mediaSessionId, principal: lease.principal)
            do {
                try await signalling.views.stopLiveView(session)
                ended += 1
            } catch {
                // It has ended on its own in the meantime.
            }
        }
        return ended
    }
}
