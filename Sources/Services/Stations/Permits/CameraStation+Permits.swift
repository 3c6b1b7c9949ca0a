import Cameras
import MediaRelay
import Transport

extension CameraStation {
    /// Changes which outputs of the camera are allowed; see ``OutputPermits/set(_:)``.
    public func setOutputs(_ policy: OutputPolicy) async { await outputs.set(policy) }

    /// Lets an output of the camera begin; see ``OutputPermits/permit(for:owner:revoked:)``.
    public func permit(
        for usage: OutputUsage, owner: String, revoked: OutputPermits.Revoked?
    ) throws(StationError) -> OutputPermit {
        try outputs.permit(for: usage, owner: owner, revoked: revoked)
    }

    /// Fails unless this gateway may act for the camera now. Code that has an effect on it asks before each one.
    public func checkTenure() throws(StationError) { try outputs.tenures.check(id) }

    /// Whether the source continues while nothing of it may leave. A publisher stays connected: there is nothing to pull,
    /// and it would not come back by itself.
    private var keepsSource: Bool { configuration.pullsWhileOff || source.publishing != nil }
}

extension CameraStation: OutputSite {
    func followOutputs() {
        let keepsSource = keepsSource
        let (waiters, hasSoundChanged) = state.withLock { state -> ([CheckedContinuation<Void, Never>]?, Bool) in
            let isClosed = outputs.refusesMedia
            let policy = outputs.policy
            let hasSoundChanged = state.recordsSound != policy.recordsSound
            state.recordsSound = policy.recordsSound
            guard isClosed != state.isClosed || policy.mutesSound != state.isMuted else {
                return (nil, hasSoundChanged)
            }
            let hasOpened = isClosed != state.isClosed
            state.isClosed = isClosed
            state.isMuted = policy.mutesSound
            for track in state.layout.tracks {
                state.inletsByTrack[track.id]?.setTaking(state.takes(track))
            }
            guard hasOpened else { return (nil, hasSoundChanged) }
            state.schedule.allow(!isClosed || keepsSource)
            // Nobody waits for the tracks of a camera that was switched off.
            guard isClosed else { return ([], hasSoundChanged) }
            defer { state.waiters = [:] }
            return (Array(state.waiters.values), hasSoundChanged)
        }
        // Recorders choose again what they take.
        if hasSoundChanged { report(.tracks(snapshot.tracks)) }
        guard let waiters else { return }
        for waiter in waiters { waiter.resume() }
        reconsider()
        // Its reason has changed.
        report(.state(snapshot.state))
    }

    func cutLiveViews(whenEnded: @escaping @Sendable () -> Void) {
        relay.endViewers(of: id, because: .revoked, whenEnded: whenEnded)
    }

    func cut(_ taps: [OutputTap]) {
        for tap in taps {
            relay.removeTap(tap.tap, from: tap.track) { tap.tap.trackEnded() }
        }
    }

    func forget(_ lost: Set<OutputUsage>) async {
        let (isClosed, snapshots) = state.withLock { ($0.isClosed, $0.snapshots) }
        if isClosed { relay.clearTracks(of: id) }
        if lost.contains(.snapshot) { await snapshots?.forget() }
    }

    func hideHistory() { relay.hideHistory(of: id) }
}
