import RTP
import Transport

/// One track on its way to one viewer: the viewer's place in the ring, and how its packets are numbered.
struct Egress {
    /// How many earlier epochs are kept for retransmissions: as many as a backlog of 12 seconds can have, in which every
    /// second frame is left out.
    private static let rememberedEpochs = 360
    /// How long after its end an epoch is kept. Packets of an older one are not retransmitted.
    private static let epochMemory = Duration.seconds(4)

    // What each frame needs comes first, so that it shares few cache lines: with hundreds of viewers, most of them have
    // to come from memory for every frame.
    private(set) var track: RelayTrack
    /// The next packet to send; nil while the viewer waits for a key frame.
    var cursor: TrackRing.Cursor?
    /// When the next burst of a backlog goes out.
    var nextBurst: Instant?
    /// Since when packets have been waiting; nil while the viewer is at the live edge.
    var behindSince: Instant?
    /// When the newest key frame is sent again, because the viewer cannot decode and the camera has made no other.
    var replayDue: Instant?
    /// Whether the viewer gets what was in the ring when it started, at the pace of its ``Viewer/pacer``.
    var isBacklog = false
    /// The packet index after the last one sent.
    var nextIndex: UInt64
    /// The epoch that new packets belong to; nil before the first start.
    private(set) var epoch: EgressEpoch?
    var packetsSent: UInt64 = 0
    var bytesSent: UInt64 = 0
    var lastTimestamp: UInt32 = 0
    /// Writes the headers of the media packets.
    let header: EgressHeader
    /// Whether the last packet of a key frame has gone out.
    var sentWholeKeyFrame = false
    /// Whether the last packet sent was not the last one of its frame.
    var isInsideFrame = false
    /// The viewer has fallen too far behind. It continues with the newest key frame once the current frame is complete.
    var skipsAtNextFrame = false

    private(set) var configuration: EgressConfiguration
    /// The track that the viewer switches to at that track's next key frame; nil while it stays with ``track``.
    var nextTrack: RelayTrack?
    /// Why it switches, and since when.
    var trackSwitch: (kind: TrackSwitch, since: Instant) = (.chosen, .zero)
    /// Called when the viewer no longer needs the track that it leaves.
    var whenLeft: (@Sendable () -> Void)?
    /// The numbering before ``epoch``, oldest first.
    private var earlierEpochs: [EgressEpoch] = []
    /// The next packet index of the retransmission stream.
    var nextRetransmissionIndex: UInt64
    private var timestampOffset: UInt32
    /// Writes the headers of the retransmission stream; nil if there is none.
    let retransmissionHeader: EgressHeader?
    /// The track's sequence number of the key frame that ``replayDue`` is about, or that was sent again last.
    var replayedKeyFrame: Int64?
    /// How many frames of the track had started before the packet at which the viewer fell behind.
    var framesBefore = 0
    /// The same for the first frame that was skipped, while the viewer waits for a key frame.
    var leftOutFrom: Int?
    /// The packets that were retransmitted on request, and their payload bytes.
    var packetsRetransmitted: UInt64 = 0
    var bytesRetransmitted: UInt64 = 0
    /// Requests that were not met: too late for the picture, or more than the viewer's budget allows.
    var retransmissionsRefused: UInt64 = 0
    var framesDropped: UInt64 = 0

    init(configuration: EgressConfiguration, track: RelayTrack, random: inout RandomSource) {
        self.configuration = configuration
        self.track = track
        // RFC 3550 wants random starts. RFC 3711 wants the first sequence number in the lower half, so that losing the
        // first packets cannot make the receiver's rollover counter wrong.
        self.nextIndex = random.next() & 0x7FFF
        self.nextRetransmissionIndex = random.next() & 0x7FFF
        self.timestampOffset = UInt32(truncatingIfNeeded: random.next())
        let playoutDelayExtension = configuration.isVideo ? configuration.playoutDelayExtension : nil
        self.header = EgressHeader(
            payloadType: configuration.payloadType, ssrc: configuration.ssrc,
            transportSequenceExtension: configuration.transportSequenceExtension,
            playoutDelayExtension: playoutDelayExtension)
        // A receiver reads the header of a lost packet from its retransmission, extensions included.
        self.retransmissionHeader = configuration.retransmission.map {
            EgressHeader(
                payloadType: $0.payloadType, ssrc: $0.ssrc,
                transportSequenceExtension: configuration.transportSequenceExtension,
                playoutDelayExtension: playoutDelayExtension)
        }
    }

    /// Moves the viewer to `cursor`, with the next free number.
    mutating func start(at cursor: TrackRing.Cursor, now: Instant) {
        self.cursor = cursor
        isBacklog = configuration.isVideo && cursor.entry < track.ring.end - 1
        // The player must not take the first half of a frame for a whole one: the gap says that the rest is missing.
        if isInsideFrame, configuration.isVideo { nextIndex += 1 }
        isInsideFrame = false
        let live = track.timeline.newestTimestamp
        var epoch = EgressEpoch(
            trackSequence: track.timeline.nextSequence, index: nextIndex, liveTimestamp: live, backlogTicks: 0,
            timestampOffset: timestampOffset, startedAt: now)
        if let entry = track.ring[cursor.entry] {
            epoch.trackSequence = entry.sequence(of: cursor.packet)
            let behind = live &- (entry.batch.packets[cursor.packet].timestamp &+ entry.timestampOffset)
            if behind < 0x8000_0000, configuration.isVideo { epoch.backlogTicks = behind }
            if packetsSent > 0 {
                // The viewer's timestamps never go back, however the previous backlog was compressed.
                let room = live &+ timestampOffset &- lastTimestamp
                epoch.room = room < 0x8000_0000 ? min(EgressEpoch.compressedTicks, max(room, 1) - 1) : 0
            }
        }
        leftOutFrom = nil
        skipsAtNextFrame = false
        begin(epoch)
    }

    /// Moves the viewer back to `keyFrame`, which it has had before. Its numbers and timestamps go on: what comes again is
    /// new to a player.
    mutating func replay(from keyFrame: TrackRing.Cursor, now: Instant) {
        // At the live edge no timestamps are left for the backlog.
        timestampOffset &+= EgressEpoch.compressedTicks + 1
        start(at: keyFrame, now: now)
    }

    private mutating func begin(_ next: EgressEpoch) {
        if let previous = epoch {
            if earlierEpochs.count >= Self.rememberedEpochs { earlierEpochs.removeFirst(Self.rememberedEpochs / 2) }
            earlierEpochs.append(previous)
        }
        epoch = next
    }

    /// Moves the viewer past frames that it does not need, without a gap in its numbers. The timestamps go on as if the
    /// frames had been sent.
    mutating func skip(to cursor: TrackRing.Cursor, now: Instant) {
        guard var next = epoch, let entry = track.ring[cursor.entry] else { return }
        self.cursor = cursor
        next.trackSequence = entry.sequence(of: cursor.packet)
        next.index = nextIndex
        next.startedAt = now
        begin(next)
    }

    /// How many epochs before the current one are kept.
    var earlierEpochCount: Int { earlierEpochs.count }

    /// Forgets epochs that ended too long ago for a retransmission.
    mutating func forgetOldEpochs(at now: Instant) {
        guard let newest = epoch, !earlierEpochs.isEmpty else { return }
        var count = 0
        while count < earlierEpochs.count {
            let ended = count + 1 < earlierEpochs.count ? earlierEpochs[count + 1].startedAt : newest.startedAt
            guard now - ended > Self.epochMemory else { break }
            count += 1
        }
        if count == earlierEpochs.count { earlierEpochs = [] } else { earlierEpochs.removeFirst(count) }
    }

    /// Switches to another track of the same codec. The viewer's numbers continue without a gap, and its timestamps
    /// advance by the time that passes. A player sees only that the picture has another size.
    mutating func move(to other: RelayTrack, at now: Instant) {
        let live = other.timeline.newestTimestamp
        if let before = track.clock.timestamp(at: now), let after = other.clock.timestamp(at: now) {
            timestampOffset = timestampOffset &+ before &- after
        }
        // The clocks of two streams agree only to some milliseconds, and timestamps must not go back.
        let ahead = Int32(bitPattern: live &+ timestampOffset &- lastTimestamp)
        let room = Int32(EgressEpoch.compressedTicks) + 1
        if packetsSent > 0, ahead < room { timestampOffset &+= UInt32(bitPattern: room &- ahead) }
        track = other
        configuration.track = other.id
        nextTrack = nil
        // Earlier packets cannot be retransmitted: their numbers lead into another ring.
        epoch = nil
        earlierEpochs = []
        cursor = nil
        nextBurst = nil
        replayDue = nil
        replayedKeyFrame = nil
        behindSince = nil
        isBacklog = false
        leftOutFrom = nil
        framesBefore = 0
        skipsAtNextFrame = false
    }

    /// What to call now that the viewer no longer needs the track that it left.
    mutating func takeWhenLeft() -> (@Sendable () -> Void)? { whenLeft.take() }

    /// The track's sequence number after the last packet sent; the smallest number before the first.
    var nextTrackSequence: Int64 {
        guard let epoch else { return .min }
        return epoch.trackSequence + Int64(nextIndex - epoch.index)
    }

    /// Whether packets can be sent again: in a stream of their own, or unchanged. A transport-wide number would change
    /// them.
    var canRepeat: Bool { configuration.retransmission != nil || configuration.transportSequenceExtension == nil }

    /// The packet with the viewer's sequence number, if it was sent recently, and the epoch that numbered it.
    func find(sequenceNumber: UInt16) -> (cursor: TrackRing.Cursor, epoch: EgressEpoch, index: UInt64)? {
        guard nextIndex > 0 else { return nil }
        let newest = nextIndex - 1
        let behind = UInt64(UInt16(truncatingIfNeeded: newest) &- sequenceNumber)
        // A number more than half a cycle behind has not been sent yet.
        guard behind < 0x8000, behind <= newest else { return nil }
        let index = newest - behind
        guard let newestEpoch = epoch,
            let epoch = newestEpoch.index <= index
                ? newestEpoch : earlierEpochs.last(where: { $0.index <= index })
        else { return nil }
        let sequence = epoch.trackSequence + Int64(index - epoch.index)
        guard let cursor = track.ring.find(sequence: sequence) else { return nil }
        return (cursor, epoch, index)
    }
}
