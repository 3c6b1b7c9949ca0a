import HomeTypes
import Signalling

extension HomeHub {
    /// The changes in the home, for one watcher.
    ///
    /// A watcher without a cursor first gets the current state of every device and of the principal's sessions, and the
    /// alarms that are still raised, and then every change. A watcher that returns with a cursor gets every change
    /// after it, including those of an earlier run of the gateway. If not all of them are kept, it first gets the
    /// current state and a notice that something is missing.
    ///
    /// The same holds if the principal could read something else when it got the cursor (``AccessMark``). Later changes do not
    /// report a device that was granted or taken away since then. The events after the cursor then follow the state, which does
    /// not contain them, and so do the removals of devices: the state does not say why it lacks a device.
    /// - Parameters:
    ///   - access: what the principal may read. The watcher does not get other objects. When this changes, the stream
    ///     ends (``enforce(_:on:)``), and the watcher connects again.
    ///   - cursor: the identifier of the last change that the watcher has read.
    ///   - keepsState: whether the watcher knows the home by its state and the changes of it. A watcher that only passes changes
    ///     on continues after its cursor, whatever it could read before. It gets the identifiers of events without a mark.
    ///   - onCutOff: called when the watcher is cut off because it does not read.
    /// - Throws: `resourceExhausted` if there are already too many watchers, or too many of this principal.
    public func changes(
        principal: String, access: Access = .everything, after cursor: String? = nil, keepsState: Bool = true,
        onCutOff: @escaping @Sendable () -> Void = {}
    ) async throws(HomeError) -> HomeEvents {
        let sees: @Sendable (String) -> Bool
        let seesConfiguration = ConfigurationSummary.isSeen(access)
        if access.permitsInWholeHome(.read) {
            // A device never leaves what this watcher sees, and checking each subject would add a cost to every change.
            sees = { $0 == ConfigurationSummary.subject ? seesConfiguration : !DeviceDeparture.isOne($0) }
        } else {
            sees = { [directory] in
                if $0 == ConfigurationSummary.subject { return seesConfiguration }
                if let departure = DeviceDeparture(subject: $0) { return departure.concerns(access, in: directory) }
                if let alarm = AutomationAlarmSubject($0) { return alarm.isSeen(by: principal, access) }
                return access.permits(.read, directory.object(ofSubject: $0))
            }
        }
        // Refuse first: a watcher that is refused anyway should not make the hub read the log.
        try requirePlace(principal)
        let cursor = cursor.flatMap { $0.isEmpty ? nil : $0 }
        let mark = keepsState ? AccessMark.text(of: access) : AccessMark.wholeHome
        var place: LogCursor?
        if let cursor, await log.resume(cursor) != nil { place = LogCursor(cursor) }
        // Nothing else runs between here and the end, so simultaneous requests cannot exceed the limit.
        try requirePlace(principal)
        // Only the run that sent a state knows its contents. The next run may use the same numbers for other entries.
        let isKnown = place.map { $0.state == 0 || $0.incarnation == log.newest.incarnation } ?? false
        if let place, !keepsState || place.mark == mark && isKnown {
            // The watcher may have left before it was past the state. Changes that the state contains must not come again after
            // it.
            let stateSequence = keepsState ? min(place.state, log.newest.sequence) : 0
            let reader = log.addReader(
                principal: principal, after: place.sequence, stateSequence: stateSequence, mark: mark, sees: sees,
                isAbsent: absence(ifNeeded: stateSequence > place.sequence), onCutOff: onCutOff)
            return HomeEvents(initial: [], reader: reader)
        }
        let newest = log.newest
        let start = place ?? newest
        let reader = log.addReader(
            principal: principal, after: start.sequence, stateSequence: newest.sequence, mark: mark, sees: sees,
            isAbsent: absence(ifNeeded: newest.sequence > start.sequence), onCutOff: onCutOff)
        guard !log.isFinished else { return HomeEvents(initial: [], reader: reader) }
        var initial = presentState(of: principal, sees)
        // The watcher has the whole state only after the last part of it.
        if let last = initial.popLast() {
            initial.append(last.with(id: start.marked(mark, state: newest.sequence).text))
        }
        guard cursor != nil else { return HomeEvents(initial: initial, reader: reader) }
        let stateCount = initial.count
        initial.append(place == nil ? .missed(Self.gap) : .missed(Self.otherAccess, eventsFollow: true))
        // One change and the report that the stream ends look the same until something follows, and the next change may be
        // hours away.
        if stateCount <= 1 { initial.append(.heartbeat) }
        return HomeEvents(initial: initial, reader: reader)
    }

    private static let gap =
        "not all changes since Last-Event-ID are still kept, so the current state was sent again; "
        + "GET /v1/devices/{device}/events lists the events of a device"

    private static let otherAccess =
        "what the token may read has changed since Last-Event-ID, so the current state was sent again; "
        + "the events since then follow"

    /// Says of the subjects of entries whether they are devices that the home does not have now.
    private func absence(ifNeeded isNeeded: Bool) -> @Sendable (_ subject: String) -> Bool {
        guard isNeeded else { return { _ in false } }
        let present = Set(states.keys.map(HomeChange.subject(ofDevice:)))
        return { HomeChange.isDevice(subject: $0) && !present.contains($0) }
    }

    private func presentState(of principal: String, _ sees: (String) -> Bool) -> [HomeEvent] {
        let places: [HomeChange] =
            directory.structures.map { .structure(directory.snapshot(of: $0.record)) } + rooms().map(HomeChange.room)
        let sessions = knownSessions.values
            .filter { $0.session.principal == principal }
            .sorted { $0.session.mediaSessionId < $1.session.mediaSessionId }
        let alarms = lastingAlarms.filter { sees(HomeChange.subject(of: $0)) }
        return places.map { $0.encoded() }.filter { sees($0.subject) }
            .map { HomeEvent(id: "", name: $0.name, data: $0.data) }
            + order.filter { sees(HomeChange.subject(ofDevice: $0)) }.compactMap(presentEvent)
            + sessions.map { HomeEvent(.session(.started, $0)) } + alarms.map { HomeEvent(.alarm($0)) }
    }

    /// The current state of a device for a watcher. It is encoded once for all watchers that connect before the next
    /// change.
    private func presentEvent(ofDevice id: String) -> HomeEvent? {
        if let known = presentEvents[id] { return known }
        guard let device = states[id]?.snapshot else { return nil }
        let encoded = HomeChange.device(device).encoded()
        keep(encoded.data, of: device)
        return presentEvents[id] ?? HomeEvent(id: "", name: encoded.name, data: encoded.data)
    }

    /// Keeps the current state of a device for the next watchers.
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
