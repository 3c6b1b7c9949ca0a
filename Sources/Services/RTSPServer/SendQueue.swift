import MediaRelay
import RTP
import Transport

/// What waits to be sent to one reader of one track: the relay's own batches, without a copy, bounded in time and
/// bytes.
///
/// A reader that is too slow loses whole frames up to the newest key frame, never single packets.
struct SendQueue {
    /// A run of packets of one batch.
    struct Entry {
        var tapped: TappedBatch
        /// The next packet to send.
        var next: Int
        /// The packet after the last one.
        var end: Int
        /// Whether packets before this run were skipped on purpose, so that the reader's numbers continue without a
        /// gap.
        var followsGap: Bool
        /// When it arrived.
        var queued: Instant
        /// Its place in the order of arrival among all tracks of the reader.
        var ordinal: UInt64
        /// What the packets of recorded footage say about themselves; nil where the client does not require it.
        var replay: ReplayHeaderExtension?
    }

    let isVideo: Bool
    private var entries: [Entry] = []
    private var head = 0
    /// The memory of the waiting batches.
    private(set) var byteCount = 0
    /// Whether everything before the next key frame is dropped.
    private(set) var awaitsKeyFrame: Bool
    private var followsGap = true
    /// Frames that were skipped; for sound, packets.
    private(set) var framesDropped: UInt64 = 0

    init(isVideo: Bool) {
        self.isVideo = isVideo
        awaitsKeyFrame = isVideo
    }

    var isEmpty: Bool { head == entries.count }

    /// The oldest run.
    var first: Entry? { isEmpty ? nil : entries[head] }

    /// How long the oldest run has waited.
    func lag(at now: Instant) -> Duration {
        isEmpty ? .zero : now - entries[head].queued
    }

    /// Adds a batch; while a key frame is awaited, from that key frame on.
    mutating func append(
        _ tapped: TappedBatch, replay: ReplayHeaderExtension? = nil, ordinal: UInt64, at now: Instant
    ) {
        let packets = tapped.batch.packets
        var first = min(max(tapped.firstPacket, 0), packets.count)
        if awaitsKeyFrame {
            guard let start = packets[first...].firstIndex(where: { $0.flags.contains([.keyFrame, .startsFrame]) })
            else {
                framesDropped += UInt64(Self.framesStarted(packets[first...]))
                return
            }
            first = start
            awaitsKeyFrame = false
            followsGap = true
        }
        guard first < packets.count else { return }
        entries.append(
            Entry(
                tapped: tapped, next: first, end: packets.count, followsGap: followsGap, queued: now, ordinal: ordinal,
                replay: replay))
        followsGap = false
        byteCount += tapped.batch.footprint
    }

    /// Records that the packets of the oldest run before `next` have been sent, and releases the run after its last
    /// one.
    mutating func advance(to next: Int) {
        guard !isEmpty else { return }
        entries[head].next = next
        entries[head].followsGap = false
        if next >= entries[head].end { removeFirst() }
    }

    private mutating func removeFirst() {
        byteCount -= entries[head].tapped.batch.footprint
        head += 1
        if head == entries.count {
            entries.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 64, head * 2 >= entries.count {
            entries.removeFirst(head)
            head = 0
        }
    }

    /// Drops what is too old: for video the whole frames before the newest key frame, for sound everything. A frame
    /// that has been sent in part is completed. Returns whether a key frame is needed now.
    mutating func leaveOut() -> Bool {
        guard !isEmpty else { return awaitsKeyFrame }
        guard isVideo else {
            framesDropped += entries[head...].reduce(0) { $0 + UInt64($1.end - $1.next) }
            removeAll()
            return false
        }
        guard var from = firstFrameStart(after: nil) else { return false }
        var keyFrame = newestKeyFrame()
        if let newest = keyFrame, newest == from {
            // It is next anyway; what follows it is dropped.
            guard let following = firstFrameStart(after: from) else { return false }
            from = following
            keyFrame = nil
        }
        var kept = Array(entries[head..<from.entry])
        var partial = entries[from.entry]
        partial.end = from.packet
        if partial.next < partial.end { kept.append(partial) }
        let end = keyFrame ?? (entry: entries.count, packet: 0)
        for index in from.entry..<min(end.entry + 1, entries.count) {
            let lower = index == from.entry ? from.packet : entries[index].next
            let upper = index == end.entry ? end.packet : entries[index].end
            if lower < upper {
                framesDropped += UInt64(Self.framesStarted(entries[index].tapped.batch.packets[lower..<upper]))
            }
        }
        if let keyFrame {
            var resumed = entries[keyFrame.entry]
            resumed.next = keyFrame.packet
            resumed.followsGap = true
            kept.append(resumed)
            kept += entries[(keyFrame.entry + 1)...]
        } else {
            awaitsKeyFrame = true
        }
        entries = kept
        head = 0
        byteCount = kept.reduce(0) { $0 + $1.tapped.batch.footprint }
        return awaitsKeyFrame
    }

    /// Drops everything, because the source has restarted or the reader pauses.
    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        head = 0
        byteCount = 0
        awaitsKeyFrame = isVideo
        followsGap = true
    }

    private func firstFrameStart(after place: (entry: Int, packet: Int)?) -> (entry: Int, packet: Int)? {
        for index in (place?.entry ?? head)..<entries.count {
            let entry = entries[index]
            let first = place.map { $0.entry == index ? $0.packet + 1 : entry.next } ?? entry.next
            guard first < entry.end else { continue }
            if let packet = (first..<entry.end).first(where: {
                entry.tapped.batch.packets[$0].flags.contains(.startsFrame)
            }) {
                return (index, packet)
            }
        }
        return nil
    }

    private func newestKeyFrame() -> (entry: Int, packet: Int)? {
        for index in (head..<entries.count).reversed() {
            let entry = entries[index]
            if let packet = (entry.next..<entry.end).last(where: {
                entry.tapped.batch.packets[$0].flags.contains([.keyFrame, .startsFrame])
            }) {
                return (index, packet)
            }
        }
        return nil
    }

    private static func framesStarted(_ packets: ArraySlice<PacketBatch.Packet>) -> Int {
        packets.count { $0.flags.contains(.startsFrame) }
    }
}
