import DatagramPort
import RTP
import SDP
import Transport

/// One batch of a track as a tap gets it, with its place on the track's timeline: the numbers continue without a jump
/// when the source restarts.
public struct TappedBatch: Sendable {
    /// The packets, shared with all other readers.
    public var batch: PacketBatch
    /// The packet to begin with: in the first batch a key frame may come after other packets.
    public var firstPacket: Int
    /// The sequence number of the batch's packet 0 on the track's timeline.
    public var firstSequence: Int64
    /// What to add to a packet's timestamp to get the track's.
    public var timestampOffset: UInt32
    /// The moment of the packet ``firstPacket`` on the monotonic clock: from the camera's sender reports if it sends
    /// them, otherwise from the arrival.
    public var capture: Instant

    /// Describes a batch.
    public init(
        batch: PacketBatch, firstPacket: Int, firstSequence: Int64, timestampOffset: UInt32, capture: Instant
    ) {
        self.batch = batch
        self.firstPacket = firstPacket
        self.firstSequence = firstSequence
        self.timestampOffset = timestampOffset
        self.capture = capture
    }

    /// The sequence number of packet `index` on the track's timeline.
    public func sequence(of index: Int) -> Int64 {
        let packets = batch.packets
        return firstSequence + Int64(packets[index].sequenceNumber &- packets[0].sequenceNumber)
    }
}

/// Where a tap begins.
public enum TapStart: Sendable, Equatable {
    /// With what comes next: for video with the next key frame, which the source is asked for.
    case live
    /// With the newest key frame, or with the next one if the ring holds none. Sound that is tapped alone begins with
    /// what comes next.
    case newestKeyFrame
    /// With the newest key frame that was captured at or before the moment. If the ring does not reach back so far, it
    /// is the oldest key frame, or the next one if there is none, and the tap learns what is missing. Sound that is
    /// tapped alone begins with the packet at that moment.
    case keyFrame(before: Instant)
}

/// Where a tap has begun.
public struct TapBeginning: Sendable, Equatable {
    /// The moment of the first packet on the monotonic clock, as in ``TappedBatch/capture``.
    public var capture: Instant
    /// How much is missing between the moment that was asked for and the first packet.
    public var shortfall: Duration

    /// Describes a beginning.
    public init(capture: Instant, shortfall: Duration = .zero) {
        self.capture = capture
        self.shortfall = shortfall
    }
}

/// A reader of a track that is not a WebRTC viewer: a transcoder, an RTSP client, a recording, a snapshot.
///
/// Every method is called on the thread of the track's home shard. It must not wait, and passes expensive work to
/// another thread.
public protocol TrackTap: AnyObject, Sendable {
    /// The first batch follows.
    func tapBegins(_ beginning: TapBeginning)
    /// Receives a batch. For video, the first one contains a key frame.
    func receive(_ batch: TappedBatch)
    /// The source has restarted: what follows cannot be decoded with what came before. Numbers and timestamps continue.
    func trackRestarted()
    /// The track has gone, and nothing more comes.
    func trackEnded()
}

extension TrackTap {
    /// Most taps take what they get.
    public func tapBegins(_ beginning: TapBeginning) {}
}

extension MediaRelay {
    /// Adds a tap to a track. What the ring holds from its beginning on comes at once, and then every batch. If the
    /// track does not exist, the tap gets its end.
    public func addTap(_ tap: any TrackTap, to track: TrackID, from start: TapStart = .newestKeyFrame) {
        addTaps([(tap, track)], from: start)
    }

    /// Adds taps to tracks of one camera. Sound begins at the same moment as the picture: it waits until that is known.
    public func addTaps(_ taps: [(tap: any TrackTap, track: TrackID)], from start: TapStart = .newestKeyFrame) {
        guard let camera = taps.first?.track.camera else { return }
        let posted = postToHome(of: camera) { handler, now in handler.addTaps(taps, from: start, at: now) }
        if !posted { for tap in taps { tap.tap.trackEnded() } }
    }

    /// Removes a tap from a track; it gets nothing more once `whenRemoved` has been called.
    public func removeTap(
        _ tap: any TrackTap, from track: TrackID, whenRemoved: @escaping @Sendable () -> Void = {}
    ) {
        let posted = postToHome(of: track) { handler, _ in
            handler.tracks[track]?.removeTap(tap)
            whenRemoved()
        }
        if !posted { whenRemoved() }
    }

    /// Requests a key frame from the source of a track; requests are merged to at most one per second.
    public func requestKeyFrame(of track: TrackID) {
        postToHome(of: track) { handler, now in handler.tracks[track]?.requestKeyFrame(at: now) }
    }
}
