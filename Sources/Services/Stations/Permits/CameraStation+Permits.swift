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

    /// Whether the source continues while nothing of it may leave. A publisher stays connected: there is nothing to pull,
    /// and it would not come back by itself.
    private var keepsSource: Bool { configuration.pullsWhileOff || source.publishing != nil }
}

extension CameraStation: OutputSite {
    func followOutputs() {
        let keepsSource = keepsSource
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
            let isClosed = outputs.refusesMedia
            guard isClosed != state.isClosed else { return nil }
            state.isClosed = isClosed
            state.schedule.allow(!isClosed || keepsSource)
            for inlet in state.inletsByTrack.values { inlet.setTaking(!isClosed) }
            // Nobody waits for the tracks of a camera that was switched off.
            guard isClosed else { return [] }
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        guard let waiters else { return }
        for waiter in waiters { waiter.resume() }
        reconsider()
        // Its reason has changed.
        tell(.state(snapshot.state))
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
