import Foundation
import HomeTypes

/// Turns changes into items of the history, and merges noise: a lamp that is dimmed is one item, and so is a contact
/// that flaps. It does no I/O; the caller passes the time.
struct HistoryMerging: Sendable {
    /// Changes of a number that are no further apart than this are one item.
    static let gap: Int64 = 30_000
    /// No item grows longer than this.
    static let longest: Int64 = 600_000
    /// How many transitions of one attribute are recorded at once, before they are merged.
    static let burst = 6.0
    /// How much time passes until another one is recorded.
    static let refill: Int64 = 10_000
    /// The maximum number of attributes that are remembered. A forgotten attribute only merges less.
    static let capacity = 16_384

    private struct Key: Hashable {
        var device: String
        var endpoint: UInt16?
        var trait: String?
        var attribute: String
    }

    /// What was last recorded of an attribute.
    private struct Open {
        /// The item; nil if nothing was noteworthy yet.
        var id: Int64?
        var began: Int64
        var latest: Int64
        var value: JSONObject.Value
        var tokens = HistoryMerging.burst
    }

    private var open: [Key: Open] = [:]

    /// Forgets a device that is gone.
    mutating func forget(_ device: String) {
        open = open.filter { $0.key.device != device }
    }

    /// What to record for a transition; nil if it is noise.
    mutating func take(
        device: String, endpoint: UInt16?, trait: String?, attribute: String, from old: JSONObject.Value,
        to new: JSONObject.Value, at time: Int64, nextID: inout Int64
    ) -> HistoryOperation? {
        let rule = trait.map { HistoryRule($0, attribute, new == .null ? old : new) } ?? .each
        if rule == .ignored { return nil }
        let key = Key(device: device, endpoint: endpoint, trait: trait, attribute: attribute)
        if open[key] == nil, open.count >= Self.capacity { dropOldest() }
        var item = open[key] ?? Open(began: time, latest: time, value: old)
        guard rule.isNoteworthy(new, after: item.value) else {
            // A reading that drifts in small steps is compared with where it began.
            open[key] = item
            return nil
        }
        let first = rule.isReading ? item.value : old
        // If the clock was set back, open items end.
        let since = time - item.latest
        let fits = item.id != nil && since >= 0 && time - item.began <= Self.longest
        item.tokens = min(Self.burst, item.tokens + Double(max(0, since)) / Double(Self.refill))
        let isMerged = fits && (rule == .each ? item.tokens < 1 : since <= Self.gap)
        item.latest = time
        item.value = new
        defer { open[key] = item }
        if isMerged, let id = item.id { return .extend(id: id, new: Self.json(new), ended: time) }
        let id = nextID
        nextID += 1
        (item.id, item.began) = (id, time)
        item.tokens = max(0, item.tokens - 1)
        return .insert(
            HistoryRow(
                id: id, time: time, device: device, kind: .stateChange, endpoint: endpoint, trait: trait,
                name: attribute, old: Self.json(first), new: Self.json(new)))
    }

    /// Forgets the older half of the attributes.
    private mutating func dropOldest() {
        let times = open.values.map(\.latest).sorted()
        let middle = times[times.count / 2]
        open = open.filter { $0.value.latest > middle }
    }

    /// A value as JSON; nil for null.
    static func json(_ value: JSONObject.Value) -> String? {
        if value == .null { return nil }
        // Values that came from JSON have JSON.
        return (try? JSONEncoder.home.encode(value)).map { String(decoding: $0, as: UTF8.self) }
    }
}
