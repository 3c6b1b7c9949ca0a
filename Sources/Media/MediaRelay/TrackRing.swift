import RTP
import Transport

/// The newest packets of one track, held once for everybody. The first picture of a new viewer, retransmissions and the
/// pre-roll of a recording are read from here.
///
/// It keeps everything since the newest key frame, and at least ``retransmissionWindow`` of history, within a limit of
/// time and bytes. The numbers of entries only grow, so a viewer's cursor stays valid while others are removed.
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

    private let maximumDuration: Duration
    private let maximumBytes: Int
    private var slots: [Entry?]
    private var byteCount = 0

    /// The number of the oldest entry.
    private(set) var first = 0
    /// The number after the newest entry.
    private(set) var end = 0
    /// The first packet of the newest key frame; nil if the ring holds none.
    private(set) var newestKeyFrame: Cursor?
    /// How many frames have started since the beginning.
    private(set) var framesStarted = 0
    /// How often the limit of time or bytes cost the ring its key frame.
    private(set) var keyFramesEvicted: UInt64 = 0

    /// - Parameters:
    ///   - maximumDuration: The oldest packet that is kept.
    ///   - maximumBytes: The most memory that batches may hold.
    init(maximumDuration: Duration, maximumBytes: Int) {
        self.maximumDuration = maximumDuration
        self.maximumBytes = maximumBytes
        self.slots = Array(repeating: nil, count: 64)
    }

    /// A ring that keeps what the relay's limits say.
    init(_ limits: RelayLimits) {
        self.init(maximumDuration: limits.ringDuration, maximumBytes: limits.ringBytes)
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
        }
        end += 1
        evict(now: batch.arrival)
    }

    /// Removes everything: the source's codec has changed, and what follows cannot be decoded with anything before.
    mutating func removeAll() {
        while first < end { removeFirst() }
        newestKeyFrame = nil
    }

    private mutating func evict(now: Instant) {
        while first < end - 1, let oldest = self[first] {
            let age = now - oldest.batch.arrival
            let neededForStart = newestKeyFrame.map { first >= $0.entry } ?? false
            if age > maximumDuration || byteCount > maximumBytes {
                if neededForStart {
                    newestKeyFrame = nil
                    keyFramesEvicted += 1
                }
            } else if neededForStart || age <= Self.retransmissionWindow {
                return
            }
            removeFirst()
        }
    }

    private mutating func removeFirst() {
        let slot = first & (slots.count - 1)
        byteCount -= slots[slot]?.batch.footprint ?? 0
        slots[slot] = nil
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
}
