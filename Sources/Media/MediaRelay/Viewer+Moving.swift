import Congestion
import DatagramPort
import RTP
import SDP
import Transport

/// Switching from one track to another: between the camera's main stream and its smaller one.
extension Viewer {
    /// Switches the viewer to `track`, at a key frame. The viewer keeps the old track until then.
    /// - Parameters:
    ///   - kind: says which key frame.
    ///   - whenLeft: called as soon as the viewer no longer needs the track that it leaves: when it has switched, or when
    ///     another switch replaces this one.
    func move(
        _ index: Int, to track: RelayTrack, as kind: TrackSwitch = .chosen, at now: Instant,
        whenLeft: @escaping @Sendable () -> Void = {}
    ) {
        egress[index].nextTrack?.remove(self)
        egress[index].nextTrack = nil
        egress[index].takeWhenLeft()?()
        if egress[index].configuration.isVideo { choice.recordMove() }
        guard egress[index].track !== track, egress[index].track.clockRate == track.clockRate else {
            // What somebody has chosen is not left for a larger one, even if the path had chosen it before.
            if kind == .chosen, egress[index].configuration.isVideo { choice = StreamChoice() }
            return whenLeft()
        }
        track.add(self)
        egress[index].nextTrack = track
        egress[index].trackSwitch = (kind, now)
        egress[index].whenLeft = whenLeft
        completeMove(index, at: now)
        if egress[index].nextTrack != nil { track.requestKeyFrame(at: now) }
    }

    /// The next track has brought something. If that is a key frame or sound, the viewer switches to it. A track that
    /// has brought nothing has no timestamps yet that could continue the viewer's.
    func completeMove(_ index: Int, at now: Instant) {
        guard let next = egress[index].nextTrack else { return }
        let isVideo = egress[index].configuration.isVideo
        guard isVideo ? hasWantedKeyFrame(next, index, at: now) : next.newestTimestampOffset != nil else { return }
        let old = egress[index].track
        recordSwitch(index, at: now)
        egress[index].move(to: next, at: now)
        if !egress.contains(where: { $0.track === old || $0.nextTrack === old }) {
            old.remove(self)
        }
        egress[index].takeWhenLeft()?()
        guard mediaFlows else { return }
        if let keyFrame = next.ring.newestKeyFrame, isVideo {
            start(index, at: keyFrame, now: now)
        } else if !isVideo {
            egress[index].start(at: next.ring.head, now: now)
        }
    }

    /// How long the next key frame of a smaller stream is waited for, and how much of it may be sent before the live edge, in
    /// seconds of the limit. After that, how old the newest key frame may be, or how many seconds it may take to catch up with
    /// the live edge from there.
    private static let smaller = (
        patience: Duration.milliseconds(600), backlog: 0.7, age: Duration.seconds(5), catchingUp: 2.0
    )

    /// Whether the track has a key frame at which the viewer may switch to it now.
    private func hasWantedKeyFrame(_ next: RelayTrack, _ index: Int, at now: Instant) -> Bool {
        guard let keyFrame = next.ring.newestKeyFrame, let entry = next.ring[keyFrame.entry] else { return false }
        let (kind, since) = egress[index].trackSwitch
        let isNew = entry.batch.arrival >= since
        switch kind {
        case .chosen: return true
        case .larger: return isNew && !choice.isTurning(at: now)
        case .smaller:
            guard !choice.isTurning(at: now) else { return false }
            let bits = Double(next.ring.bytesSinceKeyFrame * 8)
            guard let limit = line.limit(at: now), !isNew, bits > limit * Self.smaller.backlog else { return true }
            guard now - since >= Self.smaller.patience else { return false }
            return now - entry.batch.arrival <= Self.smaller.age || isStandingStill(index, at: now)
                || bits <= (limit - next.recentBytes.mean * 8) * Self.smaller.catchingUp
        }
    }

    /// Whether the viewer gets nothing of its track, or only what is so old that anything else would be better.
    private func isStandingStill(_ index: Int, at now: Instant) -> Bool {
        egress[index].cursor == nil || age(index, at: now).map { $0 > Self.longestLag } ?? false
    }

    /// The viewer is about to leave its track.
    private func recordSwitch(_ index: Int, at now: Instant) {
        guard egress[index].configuration.isVideo else { return }
        switch egress[index].trackSwitch.kind {
        case .chosen: choice = StreamChoice()
        case .smaller:
            choice.recordSmaller(than: demand, at: now)
            streamSwitches.smaller += 1
        case .larger:
            choice.recordLarger(at: now)
            line.estimator.recordLargerStream(at: now)
            streamSwitches.larger += 1
        }
    }

    /// A track that this viewer received has returned after it was gone.
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
    /// Switches a viewer to another track of the same codec, at a key frame.
    /// - Parameters:
    ///   - kind: why, which decides at which key frame.
    ///   - whenLeft: called on the relay's thread as soon as the viewer no longer needs the old track, which has to go on until
    ///     then. Released without a call if the viewer does not exist.
    public func moveViewer(
        _ sessionID: String, from old: TrackID, to new: TrackID, as kind: TrackSwitch = .chosen,
        whenLeft: @escaping @Sendable () -> Void = {}
    ) {
        post(toViewer: sessionID) { handler, viewer, now in
            guard let track = handler.tracks[new] else { return }
            handler.move(viewer, from: old, to: track, as: kind, at: now, whenLeft: whenLeft)
        }
    }
}

extension RelayShard {
    func move(
        _ viewer: Viewer, from old: TrackID, to track: RelayTrack, as kind: TrackSwitch = .chosen, at now: Instant,
        whenLeft: @escaping @Sendable () -> Void = {}
    ) {
        // The viewer may still be switching to the track that it has to leave.
        for index in viewer.egress.indices
        where viewer.egress[index].configuration.track == old || viewer.egress[index].nextTrack?.id == old {
            viewer.move(index, to: track, as: kind, at: now, whenLeft: whenLeft)
            viewer.send(index, through: &sender, limits: limits, at: now)
            if let burst = viewer.egress[index].nextBurst { deadlines.schedule(.session(viewer.handle), at: burst) }
        }
    }
}
