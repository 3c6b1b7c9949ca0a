import Transport

/// What was sent to one peer under each transport-wide sequence number, so that feedback leads back to it.
///
/// A run is what left in one send. It takes one entry, so that a frame costs as little to log as a packet. The log holds
/// the newest entries: ``leastCapacity`` of them, and up to ``mostCapacity`` while much is sent in a short time.
///
/// Feedback may say anything. What was never sent, and what has been acknowledged before, has no answer here, and each
/// packet is reported missing only once. So all feedback together costs no more than what was sent.
public struct SendLog: Sendable {
    /// What a run carried.
    public enum Kind: UInt8, Sendable {
        /// Packets of a sound track.
        case sound
        /// Packets of a video track, for the first time.
        case picture
        /// A packet of a video track once more.
        case retransmission
        /// A packet that only measures the path.
        case probe
    }

    /// Datagrams that left together: all of one size, except the last, which may be smaller.
    public struct Run: Sendable {
        /// What the datagrams carried.
        public var kind: Kind
        /// The packet index of the first one in its media stream; nil if those of the others do not follow from it.
        public var index: UInt64?
        /// How many there were, 1 to 64.
        public var count: Int
        /// Their size in bytes, without the headers of UDP and IP.
        public var segmentSize: Int
        /// The size of all of them together.
        public var byteCount: Int

        /// Describes a run.
        public init(kind: Kind, index: UInt64?, count: Int, segmentSize: Int, byteCount: Int) {
            self.kind = kind
            self.index = index
            self.count = count
            self.segmentSize = segmentSize
            self.byteCount = byteCount
        }
    }

    /// What a transport-wide sequence number stood for.
    public struct Packet: Equatable, Sendable {
        /// The number, continued beyond 16 bits.
        public var number: UInt64
        /// What the packet carried.
        public var kind: Kind
        /// Its index in its media stream; nil if it is not known.
        public var index: UInt64?
        /// When it was sent.
        public var sentAt: Instant
        /// Its size in bytes, without the headers of UDP and IP.
        public var byteCount: Int
        /// Whether an earlier report called it missing.
        public var wasMissing: Bool
    }

    private struct Entry {
        var first: UInt64 = 0
        /// ``noIndex`` if it is not known.
        var index: UInt64 = 0
        var sentAt = Instant.zero
        /// The packets that have arrived, and those that were reported missing, by their place in the run.
        var arrived: UInt64 = 0
        var missing: UInt64 = 0
        var segmentSize: UInt16 = 0
        var lastSize: UInt16 = 0
        var count: UInt8 = 0
        var kind = Kind.sound
    }

    /// How many entries there are room for at first.
    public static let leastCapacity = 128
    /// How many there may be.
    public static let mostCapacity = 1_024
    /// An entry that is younger than this makes the log grow instead of giving its place to a newer one.
    private static let memory = Duration.milliseconds(1_500)
    private static let noIndex = UInt64.max
    /// How many packets a run has at most (`UDP_MAX_SEGMENTS`): each has a bit.
    private static let longestRun = 64

    private var entries: [Entry] = []
    /// The entries that are kept, counted from the beginning of time: each is at its number modulo the capacity.
    private var kept: Range<Int> = 0..<0
    /// Where the last number was found.
    private var hint = 0
    /// The number of the next packet.
    public private(set) var next: UInt64 = 0
    /// The first packet that no feedback has reported on.
    public private(set) var unreported: UInt64 = 0

    /// Nothing has been sent.
    public init() {}

    /// Records what has left under the numbers from `number` on.
    public mutating func add(_ run: Run, from number: UInt16, at now: Instant) {
        guard run.count > 0, run.count <= Self.longestRun else { return }
        if entries.isEmpty {
            entries = Array(repeating: Entry(), count: Self.leastCapacity)
            next = UInt64(number)
            unreported = next
        }
        // The numbers of what was not logged are skipped.
        next &+= UInt64(number &- UInt16(truncatingIfNeeded: next))
        if kept.count == entries.count { makeRoom(at: now) }
        entries[kept.upperBound & (entries.count - 1)] = Entry(
            first: next, index: run.index ?? Self.noIndex, sentAt: now, segmentSize: UInt16(clamping: run.segmentSize),
            lastSize: UInt16(clamping: run.byteCount - run.segmentSize * (run.count - 1)), count: UInt8(run.count),
            kind: run.kind)
        kept = kept.lowerBound..<kept.upperBound + 1
        next &+= UInt64(run.count)
    }

    private mutating func makeRoom(at now: Instant) {
        let oldest = entries[kept.lowerBound & (entries.count - 1)]
        guard entries.count < Self.mostCapacity, now - oldest.sentAt < Self.memory else {
            kept = kept.lowerBound + 1..<kept.upperBound
            return
        }
        var larger = Array(repeating: Entry(), count: entries.count * 2)
        for number in kept { larger[number & (larger.count - 1)] = entries[number & (entries.count - 1)] }
        entries = larger
    }

    /// The packet that arrived under `number`, the first time that this is reported; nil if no packet has this number.
    public mutating func takeArrival(of number: UInt16) -> Packet? {
        guard let number = unwrap(number), let position = position(of: number) else { return nil }
        unreported = max(unreported, number + 1)
        let bit = UInt64(1) << (number - entries[position].first)
        guard entries[position].arrived & bit == 0 else { return nil }
        let packet = packet(number, at: position)
        entries[position].arrived |= bit
        return packet
    }

    /// Which packets are reported missing for the first time by a report on `count` packets from `first` on. Nothing is
    /// known of those that the log has forgotten.
    public mutating func takeMissing(from first: UInt16, count: Int) -> Range<UInt64> {
        guard count > 0, let first = unwrap(first) else { return 0..<0 }
        let end = min(first + UInt64(count), next)
        let begin = max(first, unreported, kept.isEmpty ? next : entries[kept.lowerBound & (entries.count - 1)].first)
        unreported = max(unreported, end)
        return begin < end ? begin..<end : 0..<0
    }

    /// The packet with a number that ``takeMissing(from:count:)`` has answered.
    public mutating func recordMissing(_ number: UInt64) -> Packet? {
        guard let position = position(of: number) else { return nil }
        let bit = UInt64(1) << (number - entries[position].first)
        guard entries[position].arrived & bit == 0 else { return nil }
        let packet = packet(number, at: position)
        entries[position].missing |= bit
        return packet
    }

    private func packet(_ number: UInt64, at position: Int) -> Packet {
        let entry = entries[position]
        let offset = number - entry.first
        return Packet(
            number: number, kind: entry.kind, index: entry.index == Self.noIndex ? nil : entry.index + offset,
            sentAt: entry.sentAt,
            byteCount: Int(offset + 1 == UInt64(entry.count) ? entry.lastSize : entry.segmentSize),
            wasMissing: entry.missing >> offset & 1 == 1)
    }

    /// The number of a packet that was sent; nil if it was not.
    private func unwrap(_ number: UInt16) -> UInt64? {
        let behind = UInt64(UInt16(truncatingIfNeeded: next) &- number)
        guard behind > 0, behind <= 0x8000, behind <= next else { return nil }
        return next - behind
    }

    /// Where the entry of a packet is. Feedback reports in order, so it is usually near the last one.
    private mutating func position(of number: UInt64) -> Int? {
        guard !kept.isEmpty else { return nil }
        let mask = entries.count - 1
        func covers(_ entry: Int) -> Bool {
            let entry = entries[entry & mask]
            return number >= entry.first && number - entry.first < UInt64(entry.count)
        }
        if kept.contains(hint + 1), covers(hint + 1) { hint += 1 }
        if kept.contains(hint), covers(hint) { return hint & mask }
        var (low, high) = (kept.lowerBound, kept.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle & mask].first <= number { low = middle + 1 } else { high = middle }
        }
        guard low > kept.lowerBound, covers(low - 1) else { return nil }
        hint = low - 1
        return hint & mask
    }
}
