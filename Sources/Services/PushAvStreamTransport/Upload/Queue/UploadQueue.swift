import Transport

/// Decides what is uploaded next: a pure value without I/O and without a clock.
///
/// It holds references to footage, not footage: the files of the recordings are the spool. Each recording's objects are
/// uploaded in their order (``UploadItem``): head, segments of each track, tail. Recordings do not wait for each other, and
/// neither do destinations. What fails is tried again for as long as it is in the queue.
///
/// The owner calls ``takeRecords()`` after each change and stores what it returns, and ``takeEvents()``. It starts what
/// ``ready(at:)`` returns, reports each attempt's end with ``finished(_:_:at:)``, and asks again at ``nextDeadline(after:)``.
public struct UploadQueue: Sendable {
    /// What the sessions of one destination share.
    struct Route: Sendable {
        /// Its recordings, the oldest first.
        var sessions: [RecordingSession.ID] = []
        var attempts = 0
        /// Attempts in a row without any answer, and until when nothing is tried because of them.
        var silentFailures = 0
        var blockedUntil: Instant?
        /// Whether the receiver has refused a body of unknown length.
        var refusesGrowing = false
    }

    struct RouteKey: Hashable, Sendable {
        var endpoint: UInt16
        var url: String

        init(_ destination: UploadDestination) {
            endpoint = destination.endpoint
            url = destination.url
        }
    }

    struct Attempt: Sendable {
        var session: RecordingSession.ID
        var item: UploadItem
        var isGrowing: Bool
        var route: RouteKey
    }

    /// What it may use.
    public let limits: UploadLimits
    var random: RandomSource
    var sessions: [RecordingSession.ID: UploadSessionState] = [:]
    /// All recordings, the oldest first.
    var byAge: [RecordingSession.ID] = []
    var routes: [RouteKey: Route] = [:]
    /// The routes in the order in which they came, so that a seed gives the same run each time.
    var routeOrder: [RouteKey] = []
    var attempts: [UInt64: Attempt] = [:]
    var lastAttempt: UInt64 = 0
    /// Bytes and number of segments that wait.
    var byteCount = 0
    var segmentCount = 0
    var records: [UploadRecord] = []
    var events: [UploadEvent] = []
    /// Whether records are applied that are on disk already.
    var isRestoring = false

    /// Makes an empty queue.
    public init(limits: UploadLimits = UploadLimits(), random: RandomSource = .system) {
        self.limits = limits
        self.random = random
    }

    /// What has to be stored, in this order.
    public mutating func takeRecords() -> [UploadRecord] {
        defer { records.removeAll(keepingCapacity: true) }
        return records
    }

    /// What happened since the last call.
    public mutating func takeEvents() -> [UploadEvent] {
        defer { events.removeAll() }
        return events
    }

    mutating func record(_ record: UploadRecord) {
        if !isRestoring { records.append(record) }
    }

    // MARK: - What is recorded

    /// A recording has begun. One that is known already stays as it is.
    public mutating func open(_ session: UploadSession) {
        guard sessions[session.id] == nil, session.destination.endpoint != 0, session.isPlausible else { return }
        sessions[session.id] = UploadSessionState(session)
        Self.insert(session.id, into: &byAge)
        let key = RouteKey(session.destination)
        if routes[key] == nil {
            routes[key] = Route()
            routeOrder.append(key)
        }
        if var route = routes[key] {
            Self.insert(session.id, into: &route.sessions)
            routes[key] = route
        }
        record(.opened(session))
    }

    /// A segment has begun, or has grown to `segment.byteCount`. Its duration is not used.
    /// - Parameter captured: when its first sample was captured, on the monotonic clock.
    public mutating func segmentGrew(
        _ segment: UploadSegment, in id: RecordingSession.ID, captured: Instant? = nil
    ) {
        put(segment, isComplete: false, captured, in: id)
    }

    /// A segment is complete. One that is known already stays as it is.
    /// - Parameter captured: when its first sample was captured, on the monotonic clock; nil for footage of an earlier run.
    public mutating func segmentEnded(
        _ segment: UploadSegment, in id: RecordingSession.ID, captured: Instant? = nil
    ) {
        put(segment, isComplete: true, captured, in: id)
    }

    private mutating func put(
        _ segment: UploadSegment, isComplete: Bool, _ captured: Instant?, in id: RecordingSession.ID
    ) {
        guard let state = sessions[id], state.waiting.indices.contains(segment.track), !state.isEnded,
            !state.isSettled(track: segment.track, number: segment.number), segment.isPlausible
        else { return }
        if let position = state.position(track: segment.track, number: segment.number) {
            let known = state.waiting[segment.track][position]
            guard !known.isComplete else { return }
            byteCount += segment.byteCount - known.segment.byteCount
            sessions[id]?.waiting[segment.track][position].segment = segment
            sessions[id]?.waiting[segment.track][position].isComplete = isComplete
        } else {
            let waiting = UploadSessionState.Waiting(segment: segment, isComplete: isComplete, captured: captured)
            let following = state.waiting[segment.track].firstIndex { $0.segment.number > segment.number }
            sessions[id]?.waiting[segment.track].insert(
                waiting, at: following ?? state.waiting[segment.track].count)
            byteCount += segment.byteCount
            segmentCount += 1
        }
        if isComplete { record(.segment(id, segment)) }
        enforceBound()
    }

    /// A recording has ended. A segment that was not completed before is not part of it.
    public mutating func end(_ id: RecordingSession.ID) {
        guard let state = sessions[id], !state.isEnded else { return }
        for (track, waiting) in state.waiting.enumerated() {
            for entry in waiting where !entry.isComplete { leave(id, track, entry.segment) }
        }
        sessions[id]?.isEnded = true
        record(.ended(id))
        closeIfDone(id)
    }

    // MARK: - What leaves

    /// Discards footage of a device that was captured at or after a moment, and ends attempts to upload it. A privacy
    /// switch does this. The moment is one of the monotonic clock, because the wall clock may have been set meanwhile:
    /// footage from before the switch must stay. Footage of an earlier run is older than any switch of this one.
    /// - Parameter spared: the connections to which the switch does not apply.
    /// - Returns: what was discarded, by the folders of the recordings. It has to be kept beside them.
    @discardableResult
    public mutating func discard(
        device: String, sparing spared: Set<UInt16> = [], capturedFrom moment: Instant
    ) -> [String: Set<DiscardedSegment>] {
        var all: [String: Set<DiscardedSegment>] = [:]
        for id in byAge where id.device == device {
            guard let state = sessions[id] else { continue }
            if let connection = state.session.connection, spared.contains(connection) { continue }
            let discarded = Set(
                state.waiting.joined().filter { $0.captured.map { $0 >= moment } ?? false }
                    .map { DiscardedSegment($0.segment) })
            guard !discarded.isEmpty else { continue }
            all[state.session.folder] = discarded
            drop(in: id, reason: .privacy) { discarded.contains(DiscardedSegment($0)) }
            closeIfDone(id)
        }
        return all
    }

    /// Takes segments out that a privacy switch has discarded, as the folder of the recording says. They stay out, whatever
    /// the records say.
    public mutating func exclude(_ segments: Set<DiscardedSegment>, from id: RecordingSession.ID) {
        guard let state = sessions[id] else { return }
        drop(in: id, reason: .privacy) { segments.contains(DiscardedSegment($0)) }
        for segment in segments.sorted() where state.dropped.indices.contains(segment.track) {
            guard sessions[id]?.isSettled(track: segment.track, number: segment.number) == false else { continue }
            sessions[id]?.dropped[segment.track].insert(segment.number)
            record(.dropped(id, track: segment.track, number: segment.number))
        }
        closeIfDone(id)
    }

    /// Nothing more of a recording is to be uploaded, as its folder says. The records had not come that far.
    public mutating func close(_ id: RecordingSession.ID) {
        guard sessions[id] != nil else { return }
        forget(id)
    }

    /// Ends the uploads of some of a device's connections: their principals may no longer have the footage. What runs is
    /// ended, and the recordings stay in the local store as if they were uploaded.
    public mutating func endUploads(of connections: Set<UInt16>, on device: String) {
        for id in byAge where id.device == device {
            guard let connection = sessions[id]?.session.connection, connections.contains(connection) else { continue }
            endUpload(of: id)
        }
    }

    /// Ends the upload of a recording: the principal of its connection may no longer have the footage.
    public mutating func endUpload(of id: RecordingSession.ID) {
        guard let folder = sessions[id]?.session.folder else { return }
        dropAll(in: id, reason: .revoked)
        events.append(.completed(id, folder: folder, dropped: sessions[id]?.droppedCount ?? 0))
        forget(id)
    }

    /// The recording was deleted: nothing more of it is uploaded.
    public mutating func remove(_ id: RecordingSession.ID) {
        guard sessions[id] != nil else { return }
        dropAll(in: id, reason: .deleted)
        forget(id)
    }

    /// Drops all that waits of a recording, and ends all of its attempts.
    private mutating func dropAll(in id: RecordingSession.ID, reason: UploadEvent.DropReason) {
        guard let state = sessions[id] else { return }
        drop(in: id, reason: reason) { _ in true }
        for attempt in state.attempts.keys.sorted() {
            // Those of segments have been ended already.
            if let item = state.attempts[attempt], case .segment = item { continue }
            events.append(.cancel(attempt: attempt))
        }
    }

    mutating func drop(
        in id: RecordingSession.ID, reason: UploadEvent.DropReason, where isDropped: (UploadSegment) -> Bool
    ) {
        guard let state = sessions[id] else { return }
        var count = 0
        var bytes = 0
        for (track, waiting) in state.waiting.enumerated() {
            for entry in waiting where isDropped(entry.segment) {
                count += 1
                bytes += entry.segment.byteCount
                leave(id, track, entry.segment)
                for (attempt, item) in state.attempts
                where item == .segment(track: track, number: entry.segment.number) {
                    events.append(.cancel(attempt: attempt))
                }
            }
        }
        if count > 0 { events.append(.dropped(id, segments: count, byteCount: bytes, reason: reason)) }
    }

    /// A segment leaves without being uploaded.
    private mutating func leave(_ id: RecordingSession.ID, _ track: Int, _ segment: UploadSegment) {
        guard let position = sessions[id]?.position(track: track, number: segment.number) else { return }
        sessions[id]?.waiting[track].remove(at: position)
        sessions[id]?.dropped[track].insert(segment.number)
        byteCount -= segment.byteCount
        segmentCount -= 1
        record(.dropped(id, track: track, number: segment.number))
    }

    /// While there is more than fits, the oldest recording's oldest segment leaves. What is on its way stays: it is about
    /// to leave anyway.
    mutating func enforceBound() {
        // The records name what left. Until all of them are applied, segments count that have been uploaded.
        guard !isRestoring else { return }
        var index = 0
        while byteCount > limits.maximumByteCount, index < byAge.count {
            let id = byAge[index]
            guard let state = sessions[id], let oldest = Self.oldest(of: state) else {
                index += 1
                continue
            }
            drop(in: id, reason: .queueFull) { $0.track == oldest.track && $0.number == oldest.number }
            let count = byAge.count
            closeIfDone(id)
            if byAge.count < count { index = 0 }
        }
    }

    private static func oldest(of state: UploadSessionState) -> UploadSegment? {
        let busy = Set(state.attempts.values)
        return state.waiting.joined()
            .filter { !busy.contains(.segment(track: $0.segment.track, number: $0.segment.number)) }
            .map(\.segment).min { ($0.capturedAt, $0.track) < ($1.capturedAt, $1.track) }
    }

    mutating func closeIfDone(_ id: RecordingSession.ID) {
        // Records that follow may still change it.
        guard !isRestoring, let state = sessions[id], state.isDone else { return }
        events.append(.completed(id, folder: state.session.folder, dropped: state.droppedCount))
        forget(id)
    }

    private mutating func forget(_ id: RecordingSession.ID) {
        guard let state = sessions.removeValue(forKey: id) else { return }
        for entry in state.waiting.joined() {
            byteCount -= entry.segment.byteCount
            segmentCount -= 1
        }
        byAge.removeAll { $0 == id }
        let key = RouteKey(state.session.destination)
        routes[key]?.sessions.removeAll { $0 == id }
        removeUnusedRoute(key)
        record(.closed(id))
    }

    mutating func removeUnusedRoute(_ key: RouteKey) {
        guard let route = routes[key], route.sessions.isEmpty, route.attempts == 0, route.silentFailures == 0,
            !route.refusesGrowing
        else { return }
        routes[key] = nil
        routeOrder.removeAll { $0 == key }
    }

    /// Inserts a recording by its start.
    private static func insert(_ id: RecordingSession.ID, into list: inout [RecordingSession.ID]) {
        let following = list.lastIndex { isBefore($0, id) }.map { $0 + 1 } ?? 0
        list.insert(id, at: following)
    }

    private static func isBefore(_ left: RecordingSession.ID, _ right: RecordingSession.ID) -> Bool {
        (left.start, left.device, left.epoch, left.sequence) < (right.start, right.device, right.epoch, right.sequence)
    }
}
