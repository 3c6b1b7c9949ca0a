import Cameras
import DatagramPort
import MediaRelay
import SDP
import Transport

extension CameraStation {
    /// The source has told its tracks.
    func setTracks(_ described: [TrackDescription]) {
        let layout = TrackLayout(
            camera: id, tracks: described, transcodesVideo: configuration.transcodesVideo)
        let (source, relay, id) = (source, relay, id)
        let waiters = state.withLock { state in
            let before = state.layout
            let isUpdate = isUpdate(described, of: state)
            var derived: [TrackID: DerivedTrack] = [:]
            for track in layout.tracks {
                guard let origin = track.derivedFrom else { continue }
                if let known = state.derived[track.id] ?? state.suspended[track.id],
                    known.description.codec == track.description.codec
                {
                    derived[track.id] = known
                } else {
                    derived[track.id] = DerivedTrack(
                        id: track.id, sourceID: origin, source: described[track.position],
                        description: track.description, relay: relay, budget: configuration.transcodingBudget,
                        isExempt: configuration.transcodesVideo == .always)
                }
            }
            func continues(_ track: StationTrack) -> Bool {
                guard let known = before.tracks.first(where: { $0.id == track.id }),
                    known.description.codec.isNamed(track.description.codec.name)
                else { return false }
                if isUpdate { return true }
                let connection = described[track.position].connection
                return connection != nil && known.description.connection == connection
            }
            let inletsBefore = state.inletsByTrack
            let inlets = relay.setTracks(
                camera: id,
                layout.tracks.map { track in
                    let (position, made) = (track.position, derived[track.id])
                    var description = RelayTrackDescription(
                        isVideo: track.description.kind == .video, codec: track.description.codec,
                        requestKeyFrame: {
                            if let made { made.requestKeyFrame() } else { source.requestKeyFrame(track: position) }
                        })
                    description.continuing = continues(track) ? inletsBefore[track.id] : nil
                    return (track.id.index, description)
                })
            state.inletsByTrack = Dictionary(
                zip(layout.tracks.map(\.id), inlets), uniquingKeysWith: { first, _ in first })
            state.inlets = zip(layout.tracks, inlets).filter { $0.0.derivedFrom == nil }.map(\.1)
            for (track, inlet) in zip(layout.tracks, inlets) where track.derivedFrom != nil {
                derived[track.id]?.update(source: described[track.position], inlet: inlet)
            }
            state.suspend(allBut: derived)
            state.derived = derived
            for track in layout.tracks where track.derivedFrom == nil && track.description.reordersPictures {
                let known = before.tracks.first { $0.id == track.id }
                guard known?.description.reordersPictures != true, continues(track) else { continue }
                relay.dismissViewers(of: track.id, reason: Self.bFramesFound)
            }
            state.layout = layout
            state.hasReconnected = false
            state.snapshot.tracks = described
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    /// How many tracks wait for the camera to send again what they were made of.
    var suspendedCount: Int { state.withLock { $0.suspended.count } }

    private static let bFramesFound =
        "the camera's pictures come in another order than they are shown in (B-frames), which browsers cannot play; "
        + "start again for another stream"

    /// Whether a source only tells more of the tracks that it is bringing: a profile that the stream itself shows, or
    /// B-frames. Telling the same again means that the source has started again.
    private func isUpdate(_ described: [TrackDescription], of state: borrowing State) -> Bool {
        let known = state.snapshot.tracks
        guard !state.hasReconnected, described != known, described.count == known.count else { return false }
        return zip(described, known).allSatisfy { new, old in
            new.kind == old.kind && new.codec.isNamed(old.codec.name) && new.codec.clockRate == old.codec.clockRate
                && new.payloadType == old.payloadType && new.stream == old.stream && new.connection == old.connection
        }
    }

    /// A session uses one of the tracks until the lease ends; nil for a track that needs no lease.
    /// - Throws: `cameraUnavailable` where the processor has no room for making it.
    func use(_ track: TrackID) throws(SignallingError) -> PullLease? {
        try state.withLock { $0.derived[track] }?.use()
    }

    /// A session uses some of the tracks until the leases end.
    /// - Throws: `cameraUnavailable` where the processor has no room for making one of them.
    func use(_ tracks: [TrackID]) throws(SignallingError) -> [TrackID: PullLease] {
        var leases: [TrackID: PullLease] = [:]
        do throws(SignallingError) {
            for track in tracks where leases[track] == nil { leases[track] = try use(track) }
        } catch {
            for lease in leases.values { lease.release() }
            throw error
        }
        return leases
    }

    /// What a derived track says of itself.
    func derivedStatus(_ track: TrackID) -> DerivedTrack.Status? {
        state.withLock { $0.derived[track] }?.status
    }

    /// What a derived track costs; nil while nobody has used it.
    func cost(of track: TrackID) -> TranscodingCost? {
        state.withLock { $0.derived[track] }?.cost
    }

    /// What is made of the camera's tracks, and what that costs; tracks that nobody has used are left out.
    public var transcodingCosts: [TranscodingCost] {
        state.withLock { state in state.derived.sorted { $0.key.index < $1.key.index }.compactMap(\.value.cost) }
    }

    /// Whether somebody waits for the tracks.
    var hasWaiters: Bool { state.withLock { !$0.waiters.isEmpty } }

    /// The station's tracks, as soon as the camera has told them; empty when that takes longer than `timeout`. Where one
    /// of its streams is still connecting for the first time that is waited for too, but not long: a viewer gets for good
    /// what there is when it starts, and the first stream may have no sound, or no picture that the viewer can play.
    func tracks(within timeout: Duration) async -> TrackLayout {
        var layout = await tracks(otherThan: .empty, within: timeout)
        let end = MonotonicClock.now + min(timeout, configuration.otherStreamTimeout)
        while !layout.tracks.isEmpty, source.awaitsTracks {
            let left = end - MonotonicClock.now
            guard left > .zero else { break }
            layout = await tracks(otherThan: layout, within: left)
        }
        return layout
    }

    /// The station's tracks as soon as they are others than `known`, or what they are after `timeout`.
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
                // A cancelled sleep means that the tracks have come: then nobody waits under this ticket any more.
                try? await Task.sleep(for: timeout)
                state.withLock { $0.waiters.removeValue(forKey: ticket) }?.resume()
            }
        }
        timer?.cancel()
        return state.withLock { $0.layout }
    }
}
