import Cameras
import MediaRelay
import SDP
import Transport

extension CameraStation {
    /// The source has announced its tracks.
    /// - Returns: the relay's inlets for them, in their order.
    func setTracks(_ described: [TrackDescription]) -> [TrackInlet] {
        let layout = TrackLayout(
            camera: id, tracks: described, transcodesVideo: configuration.transcodesVideo)
        let (source, relay, id) = (source, relay, id)
        let (waiters, opened) = state.withLock { state in
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
                    if let made, track.description.kind == .audio {
                        description.reportLoss = { share, now in made.recordLoss(share, at: now) }
                    }
                    description.continuing = continues(track) ? inletsBefore[track.id] : nil
                    // What is made from a track runs only while somebody uses it.
                    description.keepsHistory = track.derivedFrom == nil
                    return (track.id, description)
                })
            for (track, inlet) in zip(layout.tracks, inlets) where !state.takes(track) { inlet.setTaking(false) }
            state.inletsByTrack = Dictionary(
                zip(layout.tracks.map(\.id), inlets), uniquingKeysWith: { first, _ in first })
            for (track, inlet) in zip(layout.tracks, inlets) where track.derivedFrom != nil {
                derived[track.id]?.update(source: described[track.position], inlet: inlet)
            }
            state.suspend(allBut: derived)
            state.derived = derived
            for track in layout.tracks where track.derivedFrom == nil && track.description.reordersPictures {
                let known = before.tracks.first { $0.id == track.id }
                guard known?.description.reordersPictures != true, continues(track) else { continue }
                relay.dismissViewers(of: track.id, because: .bFrames)
            }
            state.layout = layout
            state.hasReconnected = false
            state.snapshot.tracks = described
            defer { state.waiters = [:] }
            // The camera's own tracks come first, in their order.
            return (Array(state.waiters.values), Array(inlets.prefix(described.count)))
        }
        for waiter in waiters { waiter.resume() }
        return opened
    }

    /// How many tracks wait for the camera to send the track that they are made from.
    var suspendedCount: Int { state.withLock { $0.suspended.count } }

    /// Whether a source only announces more about the tracks that it is sending: a profile that the stream itself
    /// shows, or B-frames. If it announces the same again, it has restarted.
    private func isUpdate(_ described: [TrackDescription], of state: borrowing State) -> Bool {
        let known = state.snapshot.tracks
        guard !state.hasReconnected, described != known, described.count == known.count else { return false }
        return zip(described, known).allSatisfy { new, old in
            new.kind == old.kind && new.codec.isNamed(old.codec.name) && new.codec.clockRate == old.codec.clockRate
                && new.payloadType == old.payloadType && new.stream == old.stream && new.connection == old.connection
        }
    }

    /// Why a derived track brings nothing; nil while it does, and for the camera's own tracks.
    public func failure(of track: TrackID) -> TranscodingFailure? {
        state.withLock { $0.derived[track] }?.status.failure
    }

    /// What a derived track costs; nil before its first use.
    public func cost(of track: TrackID) -> TranscodingCost? {
        state.withLock { $0.derived[track] }?.cost
    }

    /// The tracks that are made from the camera's, and what that costs, without tracks that nobody has used.
    public var transcodingCosts: [TranscodingCost] {
        state.withLock { state in state.derived.sorted { $0.key < $1.key }.compactMap(\.value.cost) }
    }
}
