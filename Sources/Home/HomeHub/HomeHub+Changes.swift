import HomeTypes
import Signalling

extension HomeHub {
    /// The changes in the home, for one watcher.
    ///
    /// A watcher without a cursor gets the present state of every device and of the principal's sessions first, and the
    /// alarms that last, then every change. One that returns with a cursor gets every change after it, also those of an
    /// earlier run of the gateway. If not all of them are kept, it gets the present state first and a note that something
    /// is missing.
    /// - Parameters:
    ///   - access: what the principal may read. The watcher gets nothing of other objects. When it changes, the stream ends
    ///     (``enforce(_:on:)``), and the watcher comes back.
    ///   - cursor: the identifier of the last change that the watcher has read.
    ///   - onCutOff: called when the watcher is cut off because it does not read.
    /// - Throws: `resourceExhausted` when too many watch already, or too many of this principal's.
    public func changes(
        principal: String, access: Access = .everything, after cursor: String? = nil,
        onCutOff: @escaping @Sendable () -> Void = {}
    ) async throws(HomeError) -> HomeEvents {
        let sees: @Sendable (String) -> Bool
        if access.permitsInWholeHome(.read) {
            // No device leaves what it sees, and a look at each subject would cost with every change.
            sees = { !DeviceDeparture.isOne($0) }
        } else {
            sees = { [directory] in
                if let departure = DeviceDeparture(subject: $0) { return departure.concerns(access, in: directory) }
                if let alarm = AutomationAlarmSubject($0) { return alarm.isSeen(by: principal, access) }
                return access.permits(.read, directory.object(ofSubject: $0))
            }
        }
        // Refuse first: a watcher that is refused anyway should not cost a look at the log.
        try requirePlace(principal)
        let cursor = cursor.flatMap { $0.isEmpty ? nil : $0 }
        var place: Int64?
        if let cursor { place = await log.resume(cursor) }
        // Nothing runs in between from here on. Of many requests at once, no more are admitted than there are places.
        try requirePlace(principal)
        if let place {
            return HomeEvents(
                initial: [], reader: log.addReader(principal: principal, after: place, sees: sees, onCutOff: onCutOff))
        }
        let newest = log.newest
        let reader = log.addReader(
            principal: principal, after: newest.sequence, sees: sees, onCutOff: onCutOff)
        guard !log.isFinished else { return HomeEvents(initial: [], reader: reader) }
        var initial = presentState(of: principal, sees)
        // Only with the last of the state does the watcher have all of it.
        if let last = initial.popLast() { initial.append(last.with(id: newest.text)) }
        if cursor != nil { initial.append(.missed(Self.gap)) }
        return HomeEvents(initial: initial, reader: reader)
    }

    private static let gap =
        "not all changes since Last-Event-ID are still kept, so the current state was sent again; "
        + "GET /v1/devices/{device}/events lists the events of a device"

    private func presentState(of principal: String, _ sees: (String) -> Bool) -> [HomeEvent] {
        let places: [HomeChange] =
            directory.structures.map { .structure(directory.snapshot(of: $0.record)) } + rooms().map(HomeChange.room)
        let sessions = knownSessions.values
            .filter { $0.session.principal == principal }
            .sorted { $0.session.mediaSessionId < $1.session.mediaSessionId }
        let alarms = self.lastingAlarms.filter { sees(HomeChange.subject(of: $0)) }
        return places.map { $0.encoded() }.filter { sees($0.subject) }
            .map { HomeEvent(id: "", name: $0.name, data: $0.data) }
            + order.filter { sees(HomeChange.subject(ofDevice: $0)) }.compactMap(presentEvent)
            + sessions.map { HomeEvent(.session(.started, $0)) } + alarms.map { HomeEvent(.alarm($0)) }
    }

    /// The present state of a device for a watcher. It is encoded once for all watchers that come before the next change.
    private func presentEvent(ofDevice id: String) -> HomeEvent? {
        if let known = presentEvents[id] { return known }
        guard let device = states[id]?.snapshot else { return nil }
        let encoded = HomeChange.device(device).encoded()
        keep(encoded.data, of: device)
        return presentEvents[id] ?? HomeEvent(id: "", name: encoded.name, data: encoded.data)
    }

    /// Keeps the present state of a device for the next watchers.
    func keep(_ data: String, of device: DeviceSnapshot) {
        presentEvents[device.id] =
            states[device.id]?.camera == nil ? HomeEvent(id: "", name: Self.deviceEvent, data: data) : nil
    }

    private static let deviceEvent = "device"

    private func requirePlace(_ principal: String) throws(HomeError) {
        guard let refusal = places.refusal(of: principal, holders: log.readers) else { return }
        throw HomeError.resourceExhausted(
            "\(watcherCount) event streams are connected: \(refusal.words); close one and try again")
    }

    /// How many watchers are connected.
    public var watcherCount: Int { log.readerCount }

    /// Sends every watcher a heartbeat.
    public func sendHeartbeat() {
        log.sendHeartbeat()
    }

    /// Ends every watcher's stream, including those of later watchers.
    public func finishChanges() {
        log.finish()
    }
}
