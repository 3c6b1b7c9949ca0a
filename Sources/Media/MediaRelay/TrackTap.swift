import DatagramPort
import RTP
import SDP
import Transport

/// One batch of a track as a tap gets it, with its place on the track's line: the numbers go on without a jump through
/// the source's restarts.
public struct TappedBatch: Sendable {
    /// The packets, shared with everybody else.
    public var batch: PacketBatch
    /// The packet to begin with: in the first batch a key frame may stand behind other packets.
    public var firstPacket: Int
    /// The sequence number on the track's line of the batch's packet 0.
    public var firstSequence: Int64
    /// What to add to a packet's timestamp to get the track's.
    public var timestampOffset: UInt32
    /// The moment that the packet ``firstPacket`` stands for, on the monotonic clock: by the camera's sender reports where
    /// it sends them, by the arrival otherwise.
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

    /// The sequence number of packet `index` on the track's line.
    public func sequence(of index: Int) -> Int64 {
        let packets = batch.packets
        return firstSequence + Int64(packets[index].sequenceNumber &- packets[0].sequenceNumber)
    }
}

/// A consumer of a track that is no WebRTC viewer: a transcoder, an RTSP client, a recording, a snapshot.
///
/// Everything is called on the relay's thread: it must not wait, and hands what costs time to a thread of its own.
public protocol TrackTap: AnyObject, Sendable {
    /// Takes a batch. The first one holds a key frame where the track is video.
    func receive(_ batch: TappedBatch)
    /// The source has started again: what follows cannot be decoded with what came before. Numbers and timestamps go on.
    func trackRestarted()
    /// The track has gone, and nothing comes any more.
    func trackEnded()
}

/// A tap on a track, and whether it has had its first key frame.
struct TapEntry {
    let tap: any TrackTap
    var hasStarted: Bool
}

extension RelayTrack {
    /// Adds a tap and gives it what the ring holds since the newest key frame; of sound it gets what comes from now on.
    func addTap(_ tap: any TrackTap) {
        removeTap(tap)
        guard isVideo, let start = ring.newestKeyFrame else {
            taps.append(TapEntry(tap: tap, hasStarted: !isVideo))
            return
        }
        for number in start.entry..<ring.end {
            guard let entry = ring[number] else { continue }
            tap.receive(tapped(entry, from: number == start.entry ? start.packet : 0))
        }
        taps.append(TapEntry(tap: tap, hasStarted: true))
    }

    /// Takes a tap off.
    func removeTap(_ tap: any TrackTap) {
        taps.removeAll { $0.tap === tap }
    }

    /// Hands the ring's newest entry to the taps.
    func feedTaps(at now: Instant) {
        guard let entry = ring[ring.end - 1] else { return }
        for index in taps.indices {
            if taps[index].hasStarted {
                taps[index].tap.receive(tapped(entry, from: 0))
            } else if let start = ring.newestKeyFrame, start.entry == ring.end - 1 {
                taps[index].hasStarted = true
                taps[index].tap.receive(tapped(entry, from: start.packet))
            } else {
                repeatKeyFrameRequest(at: now)
            }
        }
    }

    /// Tells the taps that the source has started again.
    func restartTaps() {
        for index in taps.indices {
            taps[index].hasStarted = !isVideo
            taps[index].tap.trackRestarted()
        }
    }

    /// Tells the taps that the track has gone.
    func endTaps() {
        for entry in taps { entry.tap.trackEnded() }
        taps = []
    }

    private func tapped(_ entry: TrackRing.Entry, from packet: Int) -> TappedBatch {
        let timestamp = entry.batch.packets[packet].timestamp &+ entry.timestampOffset
        return TappedBatch(
            batch: entry.batch, firstPacket: packet, firstSequence: entry.firstSequence,
            timestampOffset: entry.timestampOffset, capture: clock.instant(of: timestamp) ?? entry.batch.arrival)
    }
}

extension MediaRelay {
    /// Adds a tap to a track: it gets the newest key frame and what followed at once, and then every batch. It is told
    /// that the track has ended when there is no such track.
    public func addTap(_ tap: any TrackTap, to track: TrackID) {
        let posted = shard.post { handler, now in
            guard let found = handler.tracks[track] else { return tap.trackEnded() }
            found.addTap(tap)
            if found.ring.newestKeyFrame == nil { found.requestKeyFrame(at: now) }
        }
        if !posted { tap.trackEnded() }
    }

    /// Takes a tap off a track; it gets nothing more once `whenRemoved` has been called.
    public func removeTap(
        _ tap: any TrackTap, from track: TrackID, whenRemoved: @escaping @Sendable () -> Void = {}
    ) {
        let posted = shard.post { handler, _ in
            handler.tracks[track]?.removeTap(tap)
            whenRemoved()
        }
        if !posted { whenRemoved() }
    }

    /// Asks the source of a track for a key frame; requests are merged to at most one a second.
    public func requestKeyFrame(of track: TrackID) {
        shard.post { handler, now in handler.tracks[track]?.requestKeyFrame(at: now) }
    }
}
