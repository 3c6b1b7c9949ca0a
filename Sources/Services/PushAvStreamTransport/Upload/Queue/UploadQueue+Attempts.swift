import FragmentedMP4
import Transport

extension UploadQueue {
    /// What is to be uploaded now. Each request is an attempt that has begun.
    public mutating func ready(at now: Instant) -> [UploadRequest] {
        var requests: [UploadRequest] = []
        for key in routeOrder where attempts.count < limits.maximumAttempts {
            guard let route = routes[key], isOpen(route, at: now) else { continue }
            // The newest recording comes first, so that what happens now is not behind a long backlog; then the oldest.
            let turn = route.sessions.suffix(1) + route.sessions.dropLast()
            for id in turn {
                guard let state = sessions[id] else { continue }
                for item in state.candidates(at: now, mayGrow: !route.refusesGrowing) {
                    guard let route = routes[key], isOpen(route, at: now), attempts.count < limits.maximumAttempts
                    else { break }
                    if let request = begin(item, in: id, key) { requests.append(request) }
                }
            }
        }
        return requests
    }

    /// Whether a destination takes another attempt. After silence one attempt finds out whether it answers again.
    private func isOpen(_ route: Route, at now: Instant) -> Bool {
        if let blockedUntil = route.blockedUntil, blockedUntil > now { return false }
        return route.attempts < (route.silentFailures > 0 ? 1 : limits.maximumAttemptsPerDestination)
    }

    private mutating func begin(_ item: UploadItem, in id: RecordingSession.ID, _ key: RouteKey) -> UploadRequest? {
        guard let state = sessions[id] else { return nil }
        let session = state.session
        let body: UploadRequest.Body
        var segmentSeconds: String?
        var isGrowing = false
        switch item {
        case .segment(let track, let number):
            guard let position = state.position(track: track, number: number), let name = item.fileName(in: session)
            else { return nil }
            let waiting = state.waiting[track][position]
            let path = "\(session.folder)/\(name)"
            isGrowing = !waiting.isComplete
            body = isGrowing ? .growing(path) : .file(path, byteCount: waiting.segment.byteCount)
            if session.destination.interface == .hls {
                let timescale = Double(max(1, session.tracks[track].timescale))
                segmentSeconds = HLSMediaPlaylist.decimal(seconds: Double(waiting.segment.duration) / timescale)
            }
        case .initialization(let track):
            guard let name = item.fileName(in: session) else { return nil }
            body = .file("\(session.folder)/\(name)", byteCount: session.tracks[track].headerByteCount)
        case .manifest, .playlist, .finalPlaylist, .finalManifest:
            let manifests = UploadManifests(session: session, segments: state.accepted)
            guard let text = manifests.text(of: item) else { return nil }
            body = .text(text)
        }
        lastAttempt += 1
        attempts[lastAttempt] = Attempt(session: id, item: item, isGrowing: isGrowing, route: key)
        sessions[id]?.attempts[lastAttempt] = item
        routes[key]?.attempts += 1
        return UploadRequest(
            attempt: lastAttempt, session: id, item: item, destination: session.destination,
            path: item.path(in: session), contentType: item.contentType(in: session), segmentSeconds: segmentSeconds,
            body: body, needsDurableHistory: Self.needsDurableHistory(item, in: state))
    }

    /// The first segment of a track must not be followed by its head, nor the tail by a segment.
    private static func needsDurableHistory(_ item: UploadItem, in state: UploadSessionState) -> Bool {
        switch item {
        case .manifest, .playlist, .initialization: false
        case .segment(let track, _): state.accepted[track].isEmpty
        case .finalPlaylist, .finalManifest: true
        }
    }

    /// Reports how an attempt ended.
    public mutating func finished(_ number: UInt64, _ outcome: UploadOutcome, at now: Instant) {
        guard let attempt = attempts.removeValue(forKey: number) else { return }
        routes[attempt.route]?.attempts -= 1
        defer { removeUnusedRoute(attempt.route) }
        var verdict = UploadVerdict(outcome, isGrowing: attempt.isGrowing)
        settle(attempt.route, verdict, at: now)
        guard sessions[attempt.session] != nil else { return }
        sessions[attempt.session]?.attempts[number] = nil
        if attempt.isGrowing, case .segment(let track, let number) = attempt.item,
            let position = sessions[attempt.session]?.position(track: track, number: number)
        {
            // An answer that comes before the end of the body is not an answer to all of it.
            if verdict == .done, sessions[attempt.session]?.waiting[track][position].isComplete == false {
                verdict = .retryWhole
            }
            if verdict != .done { sessions[attempt.session]?.waiting[track][position].wasTriedGrowing = true }
            if verdict == .retryWhole { routes[attempt.route]?.refusesGrowing = true }
        }
        switch verdict {
        case .done: succeed(attempt)
        case .retry(let affectsDestination): fail(attempt, outcome, isSlow: false, hasBlocked: affectsDestination, now)
        case .retrySlowly: fail(attempt, outcome, isSlow: true, hasBlocked: false, now)
        case .lost: lose(attempt)
        case .retryWhole, .nothing: break
        }
        closeIfDone(attempt.session)
    }

    /// Any answer shows that the destination is there.
    private mutating func settle(_ key: RouteKey, _ verdict: UploadVerdict, at now: Instant) {
        guard var route = routes[key], verdict != .nothing else { return }
        if verdict == .retry(affectsDestination: true) {
            route.silentFailures += 1
            route.blockedUntil =
                now + limits.delay(failures: route.silentFailures, isSlow: false, &random)
        } else {
            route.silentFailures = 0
            route.blockedUntil = nil
        }
        routes[key] = route
    }

    private mutating func succeed(_ attempt: Attempt) {
        guard var state = sessions[attempt.session] else { return }
        if let segment = state.markSent(attempt.item) {
            byteCount -= segment.byteCount
            segmentCount -= 1
            record(.sent(attempt.session, attempt.item))
        } else if case .segment = attempt.item {
            // It was discarded while it was on its way.
        } else {
            record(.sent(attempt.session, attempt.item))
        }
        state.failures = 0
        state.retryAt = nil
        if state.isFailing {
            state.isFailing = false
            events.append(.recovered(attempt.session, state.session.destination))
        }
        sessions[attempt.session] = state
    }

    private mutating func fail(
        _ attempt: Attempt, _ outcome: UploadOutcome, isSlow: Bool, hasBlocked: Bool, _ now: Instant
    ) {
        guard var state = sessions[attempt.session] else { return }
        state.failures += 1
        if !hasBlocked {
            var delay = limits.delay(failures: state.failures, isSlow: isSlow, &random)
            if case .refused(_, .some(let asked)) = outcome { delay = max(delay, min(asked, limits.longestRetryAfter)) }
            state.retryAt = now + delay
        }
        if !state.isFailing, isSlow || state.failures >= limits.failuresBeforeAlarm {
            state.isFailing = true
            events.append(.failing(attempt.session, state.session.destination, reason: outcome.description))
        }
        sessions[attempt.session] = state
    }

    /// A file that is missing can never be uploaded. Without a track's header none of its segments can be played.
    private mutating func lose(_ attempt: Attempt) {
        switch attempt.item {
        case .segment(let track, let number):
            drop(in: attempt.session, reason: .missing) { $0.track == track && $0.number == number }
        case .initialization(let track):
            drop(in: attempt.session, reason: .missing) { $0.track == track }
            _ = sessions[attempt.session]?.markSent(attempt.item)
            record(.sent(attempt.session, attempt.item))
        case .manifest, .playlist, .finalPlaylist, .finalManifest: break
        }
    }

    /// When ``ready(at:)`` may return something that it did not return at `now`, without any change; nil for never.
    public func nextDeadline(after now: Instant) -> Instant? {
        var earliest: Instant?
        func consider(_ instant: Instant?) {
            // What was due already waits for something else: the end of an attempt.
            guard let instant, instant > now else { return }
            earliest = min(earliest ?? instant, instant)
        }
        for key in routeOrder {
            guard let route = routes[key] else { continue }
            if let blockedUntil = route.blockedUntil, blockedUntil > now {
                if !route.sessions.isEmpty { consider(blockedUntil) }
                continue
            }
            for id in route.sessions { consider(sessions[id]?.retryAt) }
        }
        return earliest
    }

    /// How it is doing.
    public var status: UploadStatus {
        var oldest: Int64?
        var failing = 0
        for state in sessions.values {
            if state.failures > 0 { failing += 1 }
            for waiting in state.waiting {
                guard let first = waiting.first else { continue }
                oldest = min(oldest ?? first.segment.capturedAt, first.segment.capturedAt)
            }
        }
        return UploadStatus(
            segments: segmentCount, byteCount: byteCount, sessions: sessions.count, oldestCapturedAt: oldest,
            attempts: attempts.count, failing: failing)
    }

    /// The connection that a recording belongs to; nil for one that is not in the queue, and for one of an earlier version.
    public func connection(of id: RecordingSession.ID) -> UInt16? { sessions[id]?.session.connection }

    /// Whether a recording's files are still needed.
    public func holds(_ id: RecordingSession.ID) -> Bool { sessions[id] != nil }

    /// Whether footage waits for a destination at this endpoint, or at this address of it.
    public func holds(endpoint: UInt16, url: String? = nil) -> Bool {
        sessions.values.contains {
            $0.session.destination.endpoint == endpoint && (url == nil || $0.session.destination.url == url)
        }
    }
}
