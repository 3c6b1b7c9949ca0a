import StreamFormats
import Transport

/// Units that come a segment at a time, and are handed out when their time has come.
///
/// It reads no clock. The first unit is due at once, and every other one as much later as its time says. When units come too
/// late, what follows is later by as much, so the delay grows to what the camera's segments need.
struct PacedUnits {
    /// A unit, and the epoch whose clock its times belong to.
    struct Entry {
        var epoch: Int
        var unit: StreamUnit
    }

    /// One queue for each track: they are decoded side by side.
    private var queues: [Int: [Entry]] = [:]
    private var heads: [Int: Int] = [:]
    /// About the memory that the units take, in bytes.
    private(set) var byteCount = 0
    private var anchor: (epoch: Int, decoding: Int64, time: Instant)?
    /// Units that are later than this move everything after them.
    private static let tolerance = Duration.milliseconds(100)
    /// A time so far ahead is of another clock.
    private static let maximumLead = Duration.seconds(60)
    /// More is not kept. The longest segment and what may wait before it is fetched take less (`PlaylistWork`).
    private static let maximumBytes = 104 << 20

    /// Adds a unit to the end of the queue of its track.
    mutating func append(_ unit: StreamUnit, epoch: Int, track: Int) {
        queues[track, default: []].append(Entry(epoch: epoch, unit: unit))
        byteCount += unit.footprint
    }

    var isEmpty: Bool { byteCount == 0 }

    /// Whether more has come than may be kept.
    var isOverfull: Bool { byteCount > Self.maximumBytes }

    /// Takes the unit that is due; nil where none is.
    mutating func next(at now: Instant) -> Entry? {
        guard let track = first, let entry = head(of: track) else { return nil }
        guard let due = due(entry), due <= now, now - due <= Self.tolerance else {
            if let due = due(entry), due > now, due - now <= Self.maximumLead { return nil }
            anchor = (entry.epoch, entry.unit.decoding, now)
            return take(track)
        }
        return take(track)
    }

    /// When the next unit is due; nil where there is none, or where it is due at once.
    var nextDue: Instant? {
        guard let track = first, let entry = head(of: track) else { return nil }
        return due(entry)
    }

    private func due(_ entry: Entry) -> Instant? {
        guard let anchor, anchor.epoch == entry.epoch else { return nil }
        let ticks = entry.unit.decoding &- anchor.decoding
        guard abs(ticks) < 3600 * StreamUnit.clockRate else { return nil }
        return anchor.time + .nanoseconds(ticks * 100_000 / 9)
    }

    private func head(of track: Int) -> Entry? {
        guard let queue = queues[track] else { return nil }
        let index = heads[track] ?? 0
        return index < queue.count ? queue[index] : nil
    }

    /// The track whose next unit comes first.
    private var first: Int? {
        var best: (track: Int, epoch: Int, decoding: Int64)?
        for track in queues.keys.sorted() {
            guard let entry = head(of: track) else { continue }
            let (epoch, decoding) = (entry.epoch, entry.unit.decoding)
            if let known = best, (known.epoch, known.decoding) <= (epoch, decoding) { continue }
            best = (track, epoch, decoding)
        }
        return best?.track
    }

    private mutating func take(_ track: Int) -> Entry? {
        guard let entry = head(of: track) else { return nil }
        byteCount -= entry.unit.footprint
        let index = heads[track] ?? 0
        let next = index + 1
        // The bytes are released now, because they no longer count. The places of taken units are removed once they are the
        // larger part.
        queues[track]?[index].unit.bytes = []
        if let count = queues[track]?.count, next >= 64, next * 2 > count || next == count {
            queues[track]?.removeFirst(next)
            heads[track] = 0
        } else {
            heads[track] = next
        }
        return entry
    }
}
