import RTP
import Transport

/// The newest packets of one track, held once for everybody. The first picture of a new viewer, retransmissions and the
/// pre-roll of a recording are read from here.
///
/// It keeps everything since the newest key frame, and at least ``retransmissionWindow`` of history, within a limit of
/// time and bytes. Without a key frame in these limits it keeps all that they allow. With a ``retention`` it keeps more
/// (`TrackRing+Retention.swift`). The numbers of entries only grow, so a viewer's cursor stays valid while others are
/// removed.
struct TrackRing {
    /// One batch and its place on the track's timeline.
    struct Entry {
        var batch: PacketBatch
        var firstSequence: Int64
        var timestampOffset: UInt32
        /// How many frames had started before this entry.
        var framesBefore: Int

        /// The sequence number of packet `index` on the track's timeline.
        @inline(__always)
        func sequence(of index: Int) -> Int64 {
            let packets = batch.packets
            return firstSequence + Int64(packets[index].sequenceNumber &- packets[0].sequenceNumber)
        }
    }

    /// A place between packets: the next packet to send.
    struct Cursor: Comparable {
        var entry: Int
        var packet: Int

        static func < (left: Cursor, right: Cursor) -> Bool {
            (left.entry, left.packet) < (right.entry, right.packet)
        }
    }

    /// How much history is kept for retransmission, whatever the key frames do.
    static let retransmissionWindow = Duration.seconds(2)

    let maximumDuration: Duration
    let maximumBytes: Int
    /// Whether decoding starts at key frames. Sound can start at any packet.
    let isVideo: Bool
    private var slots: [Entry?]
    private var byteCount = 0
    /// The bytes of the newest key frame's batch and of all batches after it.
    private(set) var bytesSinceKeyFrame = 0
    /// Every key frame that the ring holds, if it holds video.
    private(set) var keyFrames = CursorQueue()
    /// What the ring keeps beyond the needs of viewers; nil for nothing.
    private(set) var retention: Retention?
    /// The newest reason for which the ring could not keep what ``retention`` asks for, and when that was.
    private(set) var lastCut: (limit: RetentionLimit, at: Instant)?

    /// The number of the oldest entry.
    private(set) var first = 0
    /// The number after the newest entry.
    private(set) var end = 0
    /// Nobody may begin with an entry before this one.
    private(set) var readableFrom = 0
    /// The first packet of the newest key frame; nil if there is none, or if so much came after it that a viewer cannot
    /// start there.
    private(set) var newestKeyFrame: Cursor?
    /// How many frames have started since the beginning.
    private(set) var framesStarted = 0
    /// How often the limit of time or bytes cost the ring its key frame.
    private(set) var keyFramesEvicted: UInt64 = 0

    /// - Parameters:
    ///   - maximumDuration: The oldest packet that is kept.
    ///   - maximumBytes: The most memory that batches may hold.
    init(maximumDuration: Duration, maximumBytes: Int, isVideo: Bool = true) {
        self.maximumDuration = maximumDuration
        self.maximumBytes = maximumBytes
        self.isVideo = isVideo
        self.slots = Array(repeating: nil, count: 64)
    }

    /// A ring that keeps what the relay's limits say.
    init(_ limits: RelayLimits, isVideo: Bool) {
        self.init(maximumDuration: limits.ringDuration, maximumBytes: limits.ringBytes, isVideo: isVideo)
    }

    /// The ring as viewers need it, without what is kept for others.
    var forViewers: TrackRing {
        var ring = self
        // The room stays with the original.
        ring.retention = nil
        ring.lastCut = nil
        if let newest = ring[ring.end - 1] { ring.trim(now: newest.batch.arrival) }
        return ring
    }

    /// How many bytes the batches hold.
    var footprint: Int { byteCount }

    /// The place after the newest packet.
    var head: Cursor { Cursor(entry: end, packet: 0) }

    /// The entry numbered `number`; nil if it has been removed or has not arrived.
    @inline(__always)
    subscript(number: Int) -> Entry? {
        number >= first && number < end ? slots[number & (slots.count - 1)] : nil
    }

    /// Adds a batch and removes what is too old.
    mutating func append(_ batch: PacketBatch, at placement: TrackTimeline.Placement) {
        if end - first == slots.count { grow() }
        slots[end & (slots.count - 1)] = Entry(
            batch: batch, firstSequence: placement.firstSequence, timestampOffset: placement.timestampOffset,
            framesBefore: framesStarted)
        framesStarted += batch.packets.count { $0.flags.contains(.startsFrame) }
        byteCount += batch.footprint
        if let index = batch.packets.lastIndex(where: { $0.flags.contains([.keyFrame, .startsFrame]) }) {
            newestKeyFrame = Cursor(entry: end, packet: index)
            bytesSinceKeyFrame = 0
            if isVideo { keyFrames.append(Cursor(entry: end, packet: index)) }
        }
        bytesSinceKeyFrame += batch.footprint
        end += 1
        trim(now: batch.arrival)
    }

    /// Changes what the ring keeps beyond the needs of viewers. What is no longer needed goes at once.
    mutating func retain(_ retention: Retention?) {
        self.retention = retention
        if retention == nil { lastCut = nil }
        if let newest = self[end - 1] { trim(now: newest.batch.arrival) }
    }

    /// For sound: the moment since which the pictures of the camera are kept.
    mutating func followPictures(since moment: Instant?) {
        retention?.picturesSince = moment
    }

    /// Nobody begins with what the ring holds now. A reader in the middle of it goes on.
    mutating func hide() {
        newestKeyFrame = nil
        keyFrames = CursorQueue()
        readableFrom = end
    }

    /// Removes everything: the source's codec has changed, and what follows cannot be decoded with anything before.
    mutating func removeAll() {
        while first < end { removeFirst() }
        newestKeyFrame = nil
        bytesSinceKeyFrame = 0
        lastCut = nil
        retention?.room.release(downTo: 0)
    }

    private mutating func trim(now: Instant) {
        evict(now: now)
        retention?.room.release(downTo: max(byteCount - maximumBytes, 0))
    }

    private mutating func evict(now: Instant) {
        if let start = newestKeyFrame, start.entry < end - 1, let entry = self[start.entry],
            now - entry.batch.arrival > maximumDuration || bytesSinceKeyFrame > maximumBytes
        {
            newestKeyFrame = nil
            keyFramesEvicted += 1
        }
        while first < end - 1, let oldest = self[first] {
            let age = now - oldest.batch.arrival
            if let retention, isRetained(first, by: retention, at: now) {
                guard let limit = limit(of: retention, age: age) else { return }
                lastCut = (limit, now)
            } else if age <= maximumDuration, byteCount <= maximumBytes {
                // Without a key frame to begin with, a viewer that is late can only go on where it is.
                let isNeeded = newestKeyFrame.map { first >= $0.entry } ?? isVideo
                if isNeeded || age <= Self.retransmissionWindow { return }
            }
            removeFirst()
        }
    }

    private mutating func removeFirst() {
        let slot = first & (slots.count - 1)
        byteCount -= slots[slot]?.batch.footprint ?? 0
        slots[slot] = nil
        keyFrames.removeFirst(ifIn: first)
        first += 1
    }

    private mutating func grow() {
        var larger = [Entry?](repeating: nil, count: slots.count * 2)
        for number in first..<end {
            larger[number & (larger.count - 1)] = slots[number & (slots.count - 1)]
        }
        slots = larger
    }
}

extension TrackRing {
    /// How many frames started before `cursor`; nil if it has been removed.
    func framesBefore(_ cursor: Cursor) -> Int? {
        if cursor >= head { return framesStarted }
        guard let entry = self[cursor.entry] else { return nil }
        return entry.framesBefore
            + entry.batch.packets.prefix(cursor.packet).count { $0.flags.contains(.startsFrame) }
    }

    /// Finds the packet with `sequence` on the track's timeline.
    func find(sequence: Int64) -> Cursor? {
        var low = first
        var high = end
        while low < high {
            let middle = (low + high) / 2
            guard let entry = self[middle] else { return nil }
            if entry.firstSequence <= sequence { low = middle + 1 } else { high = middle }
        }
        guard let entry = self[low - 1] else { return nil }
        let packets = entry.batch.packets
        // Batches rarely have gaps, so the packet is usually where its distance says; it is never later.
        var index = min(Int(sequence - entry.firstSequence), packets.count - 1)
        while index >= 0 {
            let found = entry.sequence(of: index)
            if found == sequence { return Cursor(entry: low - 1, packet: index) }
            if found < sequence { return nil }
            index -= 1
        }
        return nil
    }

    /// The first packet after the frames at `cursor` that no other frame needs; nil if it has not come, or if a packet of
    /// theirs is needed.
    func endOfUnreferenced(from cursor: Cursor) -> Cursor? {
        var packet = cursor.packet
        for number in cursor.entry..<max(end, cursor.entry) {
            guard let packets = self[number]?.batch.packets else { return nil }
            while packet < packets.count {
                let flags = packets[packet].flags
                if !flags.contains(.unreferenced) {
                    return flags.contains(.startsFrame) ? Cursor(entry: number, packet: packet) : nil
                }
                packet += 1
            }
            packet = 0
        }
        return nil
    }
}
