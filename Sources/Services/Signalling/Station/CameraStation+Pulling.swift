import Cameras
import Dispatch
import MediaRelay
import Transport

extension CameraStation {
    /// Lets the camera be pulled: from now on, or as soon as somebody wants it.
    public func start() {
        state.withLock { $0.schedule.enable(true) }
        pulling.sync { settle() }
    }

    /// Stops the source and takes its tracks out of the relay. Must not be called from the source's thread.
    public func stop() {
        state.withLock { $0.schedule.enable(false) }
        pulling.sync { settle() }
        // Told while it was still wanted or not: the owner has stopped it.
        state.withLock { $0.snapshot.state = .stopped }
        relay.removeCamera(id)
    }

    /// Somebody wants the camera pulled until the lease ends.
    /// - Parameter reason: what for, in a word: `live view`, `snapshot`, `RTSP client`.
    public func acquire(reason: String) -> PullLease {
        let lease = state.withLock { $0.schedule.acquire(reason: reason) }
        reconsider()
        return PullLease { [weak self] in
            guard let self else { return }
            let now = configuration.now()
            state.withLock { $0.schedule.release(lease, at: now) }
            reconsider()
        }
    }

    /// Something happens at the camera that somebody will want to see, for example a press of the button: it is pulled
    /// before the first viewer asks.
    public func noteAttention() {
        let (duration, now) = (configuration.attentionTime, configuration.now())
        state.withLock { $0.schedule.noteAttention(for: duration, at: now) }
        reconsider()
    }

    /// Starts or stops the source if that is due, soon and on another thread.
    func reconsider() {
        pulling.async { [weak self] in self?.settle() }
    }

    /// Returns when the source stands as it should.
    func waitUntilSettled() {
        pulling.sync { settle() }
    }

    private func settle() {
        let now = configuration.now()
        let (isWanted, wasPulled, deadline) = state.withLock { state in
            let isWanted = state.schedule.isWanted(at: now)
            defer { state.isPulled = isWanted }
            let deadline = state.schedule.nextDeadline(after: now)
            // One timer for each deadline, however often somebody comes and goes before it.
            defer { state.armedDeadline = deadline }
            return (isWanted, state.isPulled, deadline == state.armedDeadline ? nil : deadline)
        }
        if isWanted, !wasPulled {
            source.start(sink: self)
        } else if !isWanted, wasPulled {
            source.stop()
            // Whoever comes next must not be shown what is old by then.
            relay.clearTracks(of: id)
            if configuration.pull == .onDemand {
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
