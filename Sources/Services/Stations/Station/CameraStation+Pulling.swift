import Cameras
import DatagramPort
import Dispatch
import MediaRelay
import Transport

extension CameraStation {
    /// Allows the camera to be pulled: from now on, or as soon as somebody needs it.
    public func start() {
        state.withLock { $0.schedule.enable(true) }
        pulling.sync { settle() }
    }

    /// Stops the source and removes its tracks from the relay. Must not be called from the source's thread.
    public func stop() {
        state.withLock { $0.schedule.enable(false) }
        pulling.sync { settle() }
        // Reported whether or not it was still wanted: the owner has stopped it.
        state.withLock { $0.snapshot.state = .stopped }
        relay.removeCamera(id)
    }

    /// The camera delivers for as long as the hold lasts.
    /// - Parameters:
    ///   - owner: who needs the camera. For a pre-roll, the relay keeps that much of it until the hold is ended; an
    ///     expiry ends only the pulling.
    ///   - expiry: when the hold ends by itself; nil for one that is ended.
    ///   - whenChanged: called on the relay's thread when a track's limit begins or ceases to prevent a
    ///     pre-roll. It must not wait.
    public func hold(
        for owner: CameraHold.Owner, until expiry: Instant? = nil,
        whenChanged: @escaping @Sendable (TrackID, RetentionGrant) -> Void = { _, _ in }
    ) -> CameraHold {
        let number = state.withLock { $0.schedule.hold(for: owner, until: expiry) }
        reconsider()
        var retention: RingRetention?
        if case .preRoll(let duration) = owner {
            retention = relay.retain(id, for: duration, whenChanged: whenChanged)
        }
        return CameraHold(for: owner, until: expiry, retention: retention) { [weak self] in
            guard let self else { return }
            let now = configuration.now()
            state.withLock { $0.schedule.end(number, at: now) }
            reconsider()
        }
    }

    /// Something happens at the camera that somebody will want to see, for example a press of the button. It is pulled
    /// before the first viewer asks.
    public func recordAttention() {
        let end = configuration.now() + configuration.attentionTime
        state.withLock { $0.schedule.hold(for: .press, atLeastUntil: end) }
        reconsider()
    }

    /// Starts or stops the source if that is due, soon and on another thread.
    func reconsider() {
        pulling.async { [weak self] in self?.settle() }
    }

    /// Returns when the source is in the desired state.
    func waitUntilSettled() {
        pulling.sync { settle() }
    }

    private func settle() {
        let now = configuration.now()
        // A source starts only under a tenure.
        let mayAct = outputs.tenures.mayAct(for: id)
        let (isWanted, wasPulled, isWatched, rests, deadline) = state.withLock { state in
            state.schedule.expire(at: now)
            let isWanted = mayAct && state.schedule.isWanted(at: now)
            let isWatched = state.schedule.isWatched(at: now)
            defer { state.isPulled = isWanted }
            let deadline = state.schedule.nextDeadline(after: now)
            // One timer for each deadline, however often viewers come and go before it.
            defer { state.armedDeadline = deadline }
            let rests = configuration.pull == .onDemand || state.isClosed
            let unarmed = deadline == state.armedDeadline ? nil : deadline
            return (isWanted, state.isPulled, isWatched, rests, unarmed)
        }
        // Before a start, so that a viewer who starts the camera has it at once.
        source.setCoalescing(!isWatched)
        if isWanted, !wasPulled {
            source.start(sink: self)
        } else if !isWanted, wasPulled {
            source.stop()
            // The next viewer must not be shown what is old by then.
            relay.clearTracks(of: id)
            if rests {
                state.withLock { $0.snapshot.state = .idle }
                handle(.state(.idle))
            }
        }
        if let deadline { arm(deadline, at: now) }
    }

    private func arm(_ deadline: Instant, at now: Instant) {
        let wait = min(max((deadline - now).wholeNanoseconds, 0), 86_400_000_000_000)
        pulling.asyncAfter(deadline: .now() + .nanoseconds(Int(wait) + 1_000_000)) { [weak self] in
            guard let self else { return }
            let isDue = state.withLock { state in
                guard state.armedDeadline == deadline else { return false }
                state.armedDeadline = nil
                return true
            }
            if isDue { settle() }
        }
    }
}

/// What waits for the tracks and uses them.
extension CameraStation {
    /// Whether somebody waits for the tracks.
    var hasWaiters: Bool { state.withLock { !$0.waiters.isEmpty } }

    /// The station's tracks, as soon as the camera has announced them; empty if that takes longer than `timeout`. If
    /// one of its streams is still connecting for the first time, this waits for it too, but not long: a viewer keeps
    /// the codecs that it starts with, and the first stream may have no sound, or no picture that the viewer can play.
    public func tracks(within timeout: Duration) async -> TrackLayout {
        var layout = await tracks(otherThan: .empty, within: timeout)
        let end = MonotonicClock.now + min(timeout, configuration.otherStreamTimeout)
        while !layout.tracks.isEmpty, source.awaitsTracks {
            let left = end - MonotonicClock.now
            guard left > .zero else { break }
            layout = await tracks(otherThan: layout, within: left)
        }
        return layout
    }

    /// The station's tracks as soon as they differ from `known`, or their state after `timeout`.
    private func tracks(otherThan known: TrackLayout, within timeout: Duration) async -> TrackLayout {
        let (current, ticket) = state.withLock { state in
            state.nextWaiter += 1
            return (state.layout, state.nextWaiter)
        }
        if current != known { return current }
        var timer: Task<Void, Never>?
        await withCheckedContinuation { continuation in
            let hasChanged = state.withLock { state in
                if state.layout != known { return true }
                state.waiters[ticket] = continuation
                return false
            }
            if hasChanged { return continuation.resume() }
            // Not before the waiter is there, or a short timeout would find nobody to wake.
            timer = Task {
                // A cancelled sleep means that the tracks have arrived. Then nobody waits under this ticket.
                try? await Task.sleep(for: timeout)
                state.withLock { $0.waiters.removeValue(forKey: ticket) }?.resume()
            }
        }
        timer?.cancel()
        return state.withLock { $0.layout }
    }

    /// Somebody uses one of the tracks until the hold ends; nil for a track that needs none.
    /// - Throws: `transcodingRefused` if there is not enough processor time to make it.
    public func use(_ track: TrackID, for owner: CameraHold.Owner) throws(StationError) -> CameraHold? {
        try state.withLock { $0.derived[track] }?.use(for: owner)
    }

    /// Somebody uses some of the tracks until the holds end.
    /// - Throws: `transcodingRefused` if there is not enough processor time to make one of them.
    public func use(_ tracks: [TrackID], for owner: CameraHold.Owner) throws(StationError) -> [TrackID: CameraHold] {
        var holds: [TrackID: CameraHold] = [:]
        do throws(StationError) {
            for track in tracks where holds[track] == nil { holds[track] = try use(track, for: owner) }
        } catch {
            for hold in holds.values { hold.end() }
            throw error
        }
        return holds
    }
}
