import HomeTypes
import Signalling

extension HomeHub {
    /// The principal's live sessions. The one whose lease ends first comes first.
    public func sessions(principal: String) async -> [SessionSnapshot] {
        let now = self.now()
        return await self.liveView.sessions()
            .filter { $0.principal == principal }
            .map { SessionSnapshot($0, now: now) }
            .sorted { ($0.expiresAt, $0.session.mediaSessionId) < ($1.expiresAt, $1.session.mediaSessionId) }
    }

    /// One of the principal's live sessions.
    public func session(_ mediaSessionId: String, principal: String) async throws(HomeError) -> SessionSnapshot {
        let sessions = await self.sessions(principal: principal)
        guard let found = sessions.first(where: { isEqualInConstantTime($0.session.mediaSessionId, mediaSessionId) })
        else { throw HomeHub.unknownSession }
        return found
    }

    /// Ends a session, whatever device it watches. It is not an error if the principal's session has ended already.
    public func endSession(_ mediaSessionId: String, principal: String) async throws(HomeError) {
        do {
            try await self.liveView.stopLiveView(mediaSessionId: mediaSessionId, principal: principal)
        } catch {
            throw HomeError(error)
        }
        await self.refreshSessions()
    }

    /// Looks at all sessions and reports what is new to the watchers: starts, steps of a start, extensions, talk, ends.
    ///
    /// The hub calls it after each command. It also runs on known changes and about once a second while somebody
    /// watches, so that sessions that end by themselves are reported too.
    public func refreshSessions() async {
        // Only one look runs at a time, because the result of an older look must not overwrite that of a newer one. A
        // caller that arrives meanwhile waits for a look that began after its call.
        if let running = self.sessionRefresh {
            self.mustRefreshSessionsAgain = true
            await running.value
            return
        }
        let task = Task { await self.lookAtSessions() }
        self.sessionRefresh = task
        await task.value
    }

    private func lookAtSessions() async {
        repeat {
            self.mustRefreshSessionsAgain = false
            let snapshots = await self.liveView.sessions()
            let now = self.now()
            var current: [String: SessionSnapshot] = [:]
            for snapshot in snapshots { current[snapshot.mediaSessionId] = SessionSnapshot(snapshot, now: now) }
            self.publishDifferences(to: current)
        } while self.mustRefreshSessionsAgain
        self.sessionRefresh = nil
    }

    /// Ends every session of every principal, because the gateway is stopping.
    /// - Returns: how many were ended.
    public func endAllSessions() async -> Int {
        var ended = 0
        for session in await self.liveView.sessions() {
            do {
                try await self.liveView.stopLiveView(
                    mediaSessionId: session.mediaSessionId, principal: session.principal)
                ended += 1
            } catch {
                // It has ended by itself in the meantime.
            }
        }
        await self.refreshSessions()
        return ended
    }

    private func publishDifferences(to current: [String: SessionSnapshot]) {
        for (id, session) in current {
            guard let earlier = self.knownSessions[id] else {
                self.knownSessions[id] = session
                self.publish(.session(.started, session))
                continue
            }
            if session.isNews(comparedTo: earlier) {
                self.knownSessions[id] = session
                self.publish(.session(.changed, session))
            }
        }
        for (id, session) in self.knownSessions.sorted(by: { $0.key < $1.key }) where current[id] == nil {
            self.knownSessions[id] = nil
            self.publish(.session(.ended, session.ended))
        }
    }

    static let unknownSession = HomeError.notFound(
        "there is no such session: it has ended, never existed, or belongs to somebody else")
}

extension HomeHub {
    /// Every principal's sessions, for metrics and for extending leases; never for a client.
    public func allSessions() async -> [LiveViewSnapshot] {
        await self.liveView.sessions()
    }
}
