import DatagramPort
import SDP
import Transport

/// Going from one track to another: the camera's main stream and its smaller one.
extension Viewer {
    /// The viewer is to go on with `track` instead of the one that it has; at once where the track's ring holds a key
    /// frame, otherwise when one comes, and with the old one until then.
    /// - Parameter whenLeft: called as soon as the viewer needs the track from which it goes no more: when it has moved, or
    ///   when another move takes the place of this one.
    func move(
        _ index: Int, to track: RelayTrack, at now: Instant, whenLeft: @escaping @Sendable () -> Void = {}
    ) {
        egress[index].nextTrack?.viewers.removeAll { $0 === self }
        egress[index].nextTrack = nil
        egress[index].takeWhenLeft()?()
        guard egress[index].track !== track, egress[index].track.clockRate == track.clockRate else { return whenLeft() }
        if !track.viewers.contains(where: { $0 === self }) { track.viewers.append(self) }
        egress[index].nextTrack = track
        egress[index].whenLeft = whenLeft
        completeMove(index, at: now)
        if egress[index].nextTrack != nil { track.requestKeyFrame(at: now) }
    }

    /// The next track has brought something: if that is a key frame, or sound, the viewer goes on with it. A track that
    /// has brought nothing has no timestamps yet that the viewer's could go on to.
    func completeMove(_ index: Int, at now: Instant) {
        guard let next = egress[index].nextTrack else { return }
        let isVideo = egress[index].configuration.isVideo
        guard isVideo ? next.ring.newestKeyFrame != nil : next.newestTimestampOffset != nil else { return }
        let old = egress[index].track
        egress[index].move(to: next, at: now)
        if !egress.contains(where: { $0.track === old || $0.nextTrack === old }) {
            old.viewers.removeAll { $0 === self }
        }
        egress[index].takeWhenLeft()?()
        guard mediaFlows else { return }
        if let keyFrame = next.ring.newestKeyFrame, isVideo {
            egress[index].start(at: keyFrame, now: now)
        } else if !isVideo {
            egress[index].start(at: next.ring.head, now: now)
        }
    }

    /// A track that this viewer was sent has come back after it had gone.
    func takeBack(_ track: RelayTrack, at now: Instant) {
        for index in egress.indices
        where egress[index].configuration.track == track.id && egress[index].track !== track
            && egress[index].track.codec.isNamed(track.codec.name)
        {
            move(index, to: track, at: now)
        }
    }
}

extension MediaRelay {
    /// Lets a viewer go on with another track of the same codec, from its next key frame on.
    /// - Parameter whenLeft: called on the relay's thread as soon as the viewer needs the old track no more, or let go of
    ///   uncalled when it has no such viewer: until then the old one has to go on.
    public func moveViewer(
        _ sessionID: String, from old: TrackID, to new: TrackID, whenLeft: @escaping @Sendable () -> Void = {}
    ) {
        shard.post { handler, now in
            guard let viewer = handler.viewers[sessionID], let track = handler.tracks[new] else { return }
            handler.move(viewer, from: old, to: track, at: now, whenLeft: whenLeft)
        }
    }
}

extension RelayShard {
    func move(
        _ viewer: Viewer, from old: TrackID, to track: RelayTrack, at now: Instant,
        whenLeft: @escaping @Sendable () -> Void = {}
    ) {
        // The viewer may still be on its way to the track from which it is to go.
        for index in viewer.egress.indices
        where viewer.egress[index].configuration.track == old || viewer.egress[index].nextTrack?.id == old {
            viewer.move(index, to: track, at: now, whenLeft: whenLeft)
            viewer.send(index, through: &sender, limits: limits, at: now)
            if let burst = viewer.egress[index].nextBurst { deadlines.schedule(viewer.sessionID, at: burst) }
        }
    }
}
