import DatagramPort
import SDP
import Transport

/// Going from one track to another: the camera's main stream and its smaller one.
extension Viewer {
    /// The viewer is to go on with `track` instead of the one that it has; at once where the track's ring holds a key
    /// frame, otherwise when one comes, and with the old one until then.
    func move(_ index: Int, to track: RelayTrack, at now: Instant) {
        egress[index].nextTrack?.viewers.removeAll { $0 === self }
        egress[index].nextTrack = nil
        guard egress[index].track !== track, egress[index].track.clockRate == track.clockRate else { return }
        if !track.viewers.contains(where: { $0 === self }) { track.viewers.append(self) }
        egress[index].nextTrack = track
        completeMove(index, at: now)
        if egress[index].nextTrack != nil { track.requestKeyFrame(at: now) }
    }

    /// The next track has brought something: if that is a key frame, the viewer goes on with it.
    func completeMove(_ index: Int, at now: Instant) {
        guard let next = egress[index].nextTrack else { return }
        guard !egress[index].configuration.isVideo || next.ring.newestKeyFrame != nil else { return }
        let old = egress[index].track
        egress[index].move(to: next, at: now)
        if !egress.contains(where: { $0.track === old || $0.nextTrack === old }) {
            old.viewers.removeAll { $0 === self }
        }
        guard mediaFlows else { return }
        if let keyFrame = next.ring.newestKeyFrame, egress[index].configuration.isVideo {
            egress[index].start(at: keyFrame)
        } else if !egress[index].configuration.isVideo {
            egress[index].start(at: next.ring.head)
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
    public func moveViewer(_ sessionID: String, from old: TrackID, to new: TrackID) {
        shard.post { handler, now in
            guard let viewer = handler.viewers[sessionID], let track = handler.tracks[new] else { return }
            handler.move(viewer, from: old, to: track, at: now)
        }
    }
}

extension RelayShard {
    func move(_ viewer: Viewer, from old: TrackID, to track: RelayTrack, at now: Instant) {
        for index in viewer.egress.indices where viewer.egress[index].configuration.track == old {
            viewer.move(index, to: track, at: now)
            viewer.send(index, through: &sender, limits: limits, at: now)
            if let burst = viewer.egress[index].nextBurst { deadlines.schedule(viewer.sessionID, at: burst) }
        }
    }
}
