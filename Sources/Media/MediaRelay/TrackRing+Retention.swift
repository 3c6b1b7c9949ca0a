import RTP
import Transport

/// What a ring keeps because somebody has asked for it: a recording that begins before its trigger, for example.
///
/// Pictures are kept from the newest key frame that is old enough, because nothing can be decoded without it. Sound is
/// kept for as long as the pictures of the same camera. If a limit is reached, pictures go by whole groups: what
/// follows a lost key frame is of no use.
extension TrackRing {
    /// What is asked for.
    struct Retention {
        /// How far back the content has to reach.
        var duration: Duration
        /// The most memory that the ring's batches may hold for it.
        var maximumBytes: Int
        /// What the ring holds beyond its ordinary limit is taken from what all rings share.
        var room: RetentionRoom
        /// For sound: the moment since which the pictures of the camera are kept.
        var picturesSince: Instant?
    }

    /// The time that a trigger may take until its tap is added: what it asks for must not have gone meanwhile. It also
    /// covers that sound and pictures arrive with different delays.
    static let retentionSlack = Duration.milliseconds(500)

    /// The key frames of a camera may be this far apart before a retention is cut.
    var longestGroup: Duration { maximumDuration }

    /// Whether the entry numbered `number` is part of what `retention` asks for.
    func isRetained(_ number: Int, by retention: Retention, at now: Instant) -> Bool {
        let moment = now - (retention.duration + Self.retentionSlack)
        guard isVideo else {
            // Pictures that no longer arrive do not make the sound grow.
            let oldest = moment - (longestGroup + Self.retentionSlack)
            let since = retention.picturesSince.map { max(min(moment, $0 - Self.retentionSlack), oldest) } ?? moment
            guard let following = self[number + 1] else { return true }
            return following.batch.arrival > since
        }
        return retainedStart(before: moment).map { number >= $0.entry } ?? false
    }

    /// The key frame that arrived at or before `moment`; the oldest one if the ring does not reach back so far.
    private func retainedStart(before moment: Instant) -> Cursor? {
        let older = keyFrames.count(upTo: moment) { arrival(of: $0) }
        return older > 0 ? keyFrames[older - 1] : keyFrames.first
    }

    /// Which limit the oldest entry, of this age, exceeds; nil if it can stay.
    func limit(of retention: Retention, age: Duration) -> RetentionLimit? {
        if isVideo, age > retention.duration + Self.retentionSlack + longestGroup {
            return .keyFrameInterval(longestGroup)
        }
        if footprint > retention.maximumBytes { return .trackBytes(retention.maximumBytes) }
        guard retention.room.take(upTo: max(footprint - maximumBytes, 0)) else {
            return .totalBytes(retention.room.pool.limit)
        }
        return nil
    }

    private func arrival(of cursor: Cursor) -> Instant { self[cursor.entry]?.batch.arrival ?? .distantFuture }

    /// When what the ring can be read from arrived: its oldest key frame, or for sound its oldest packet.
    var oldestStart: Instant? {
        isVideo ? keyFrames.first.map { arrival(of: $0) } : self[max(first, readableFrom)]?.batch.arrival
    }

    /// When the newest key frame arrived.
    var newestStart: Instant? { keyFrames.last.map { arrival(of: $0) } }

    /// Since when ``retention`` keeps the content.
    func retainedSince(at now: Instant) -> Instant? {
        guard let retention else { return nil }
        return retainedStart(before: now - (retention.duration + Self.retentionSlack)).map { arrival(of: $0) }
    }
}
