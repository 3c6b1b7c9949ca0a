import PeerConnection
import Transport

/// A viewer that cannot decode asks for a key frame (RFC 4585, section 6.3.1). Most RTSP cameras make none on request, so it
/// would see a picture that stands still until the next one comes, often for four to ten seconds. The ring still holds the
/// newest key frame and all that follows it, so the viewer gets these again, at the pace of any backlog.
extension Viewer {
    /// How long the camera has to make a key frame. One that encodes on request needs less, and its key frame costs the path
    /// less than what would be sent again.
    private static let replayPatience = Duration.milliseconds(150)
    /// How long the path has to have lost nothing. A path that loses packets gets them again one by one, and often loses them
    /// because it carries too little.
    private static let cleanPath = Duration.seconds(3)

    /// The viewer has asked for a key frame. It gets each of them a second time at most, however often it asks.
    func expectReplay(_ index: Int, at now: Instant) {
        guard egress[index].replayDue == nil, mayReplay(index, at: now), let keyFrame = sentKeyFrame(index),
            keyFrame.sequence != egress[index].replayedKeyFrame
        else { return }
        egress[index].replayedKeyFrame = keyFrame.sequence
        egress[index].replayDue = now + Self.replayPatience
    }

    /// Sends the newest key frame again, unless a newer one has come or the path has become too slow.
    func replayKeyFrame(_ index: Int, at now: Instant) {
        egress[index].replayDue = nil
        guard mayReplay(index, at: now), let keyFrame = sentKeyFrame(index),
            keyFrame.sequence == egress[index].replayedKeyFrame
        else { return }
        egress[index].replay(from: keyFrame.cursor, now: now)
        if egress[index].isBacklog { pacer.begin(roundTrip: peer.pathRoundTripTime, at: now) }
        feedback.keyFramesReplayed += 1
    }

    /// Whether the path has room for it: it has everything already, and neither loses packets nor is limited. False for a viewer
    /// that waits for another key frame anyway.
    private func mayReplay(_ index: Int, at now: Instant) -> Bool {
        guard egress[index].cursor != nil, egress[index].nextTrack == nil, !egress[index].isBacklog,
            egress[index].behindSince == nil, !line.isLimited
        else { return false }
        guard let lost = feedback.lossReportedAt else { return true }
        return now - lost > Self.cleanPath
    }

    /// The newest key frame and its number in the track; nil if the viewer still gets it for the first time.
    private func sentKeyFrame(_ index: Int) -> (cursor: TrackRing.Cursor, sequence: Int64)? {
        let ring = egress[index].track.ring
        guard let keyFrame = ring.newestKeyFrame, let entry = ring[keyFrame.entry] else { return nil }
        let sequence = entry.sequence(of: keyFrame.packet)
        return sequence < egress[index].nextTrackSequence ? (keyFrame, sequence) : nil
    }
}
