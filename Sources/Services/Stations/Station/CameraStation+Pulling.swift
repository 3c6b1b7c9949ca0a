import Cameras
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
    public func noteAttention() {
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
