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

/// A reader of a track that is not a WebRTC viewer: a transcoder, an RTSP client, a recording, a snapshot.
///
/// Every method is called on the thread of the track's home shard. It must not wait, and passes expensive work to a thread of its own.
public protocol TrackTap: AnyObject, Sendable {
    /// Receives a batch. For video, the first one contains a key frame.
    func receive(_ batch: TappedBatch)
    /// The source has restarted: what follows cannot be decoded with what came before. Numbers and timestamps continue.
    func trackRestarted()
    /// The track has gone, and nothing more comes.
    func trackEnded()
}

/// A tap on a track, and whether it has had its first key frame.
struct TapEntry {
    let tap: any TrackTap
    var hasStarted: Bool
}

extension RelayTrack {
    /// Adds a tap and gives it what the ring holds since the newest key frame. A tap of sound starts live.
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

    /// Removes a tap.
    func removeTap(_ tap: any TrackTap) {
        taps.removeAll { $0.tap === tap }
    }

    /// Passes the ring's newest entry to the taps.
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

    /// Reports to the taps that the source has restarted.
    func restartTaps() {
        for index in taps.indices {
            taps[index].hasStarted = !isVideo
            taps[index].tap.trackRestarted()
        }
    }

    /// Reports to the taps that the track has gone.
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

extension RelayShard {
    /// Adds a tap to a track; the camera is asked for a key frame if the ring has none.
    func addTap(_ tap: any TrackTap, to id: TrackID, at now: Instant) {
        guard let track = tracks[id] else { return tap.trackEnded() }
        // A key frame that was handed in before the tap is part of what it begins with. Sound has no such beginning:
        // the tap comes first, so that it misses nothing of what is handed in while its request is on the way.
        if track.isVideo { handleInlets(at: now) }
        track.addTap(tap)
        if track.ring.newestKeyFrame == nil { track.requestKeyFrame(at: now) }
    }
}

extension MediaRelay {
    /// Adds a tap to a track. It gets the newest key frame and everything after it at once, and then every batch. If
    /// there is no such track, it gets the end of the track.
    public func addTap(_ tap: any TrackTap, to track: TrackID) {
        let posted = postToHome(of: track) { handler, now in handler.addTap(tap, to: track, at: now) }
        if !posted { tap.trackEnded() }
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
