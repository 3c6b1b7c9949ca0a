import HomeTypes
import Signalling

extension HomeHub {
    /// The changes in the home, for one watcher: the present state of every device and of the principal's sessions
    /// first, then the doorbell presses that it missed since `lastEventID`, then every change.
    /// - Throws: `resourceExhausted` when too many watch already, or too many of this principal's.
    public func changes(
        principal: String, lastEventID: String? = nil, onCutOff: @escaping @Sendable () -> Void = {}
    ) async throws(HomeError) -> AsyncStream<HomeEvent> {
        // Refuse first: a watcher that is refused anyway should not cost a look at the sessions.
        try self.requirePlace(principal)
        await self.refreshSessions()
        // Nothing runs in between from here on. Of many requests at once, no more are admitted than there are places.
        try self.requirePlace(principal)
        let initial =
            self.devices().map(HomeChange.device)
            + self.knownSessions.values
            .filter { $0.session.principal == principal }
            .sorted { $0.session.mediaSessionId < $1.session.mediaSessionId }
            .map { HomeChange.session(.started, $0) }
        return self.changeStream.addWatcher(
            principal: principal, initial: initial, lastEventID: lastEventID, onCutOff: onCutOff
        ) { id in
            Task { await self.removeWatcher(id) }
        }
    }

    private func requirePlace(_ principal: String) throws(HomeError) {
        guard let refusal = self.changeStream.refusal(of: principal) else { return }
        throw HomeError.resourceExhausted(
            "\(self.watcherCount) watchers of /v1/events are connected: \(refusal.words); close one and try again")
    }

    /// How many watchers are connected.
    public var watcherCount: Int { self.changeStream.watcherCount }

    /// Sends every watcher a heartbeat.
    public func sendHeartbeat() {
        self.changeStream.publish(.heartbeat)
    }

    /// Ends every watcher's stream, including those of later watchers.
    public func finishChanges() {
        self.changeStream.finish()
    }

    private func removeWatcher(_ id: UInt64) {
        self.changeStream.removeWatcher(id)
    }
}
