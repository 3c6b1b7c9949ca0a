import Transport

/// Records when packets arrive and reports it to their sender (draft-holmer-rmcat-transport-wide-cc-extensions-01,
/// section 3.1).
public struct TransportFeedbackGenerator: Sendable {
    /// How long after a packet its report is due.
    public let interval: Duration

    private static let absent = Int64.min
    private static let capacity = 4_096

    private var unwrapper = SequenceUnwrapper()
    /// Arrivals in units of 250 µs, by the sequence number modulo the capacity.
    private var arrivals: [Int64]
    /// The first sequence number that no report has covered.
    private var nextToReport: Int64 = 0
    private var unreportedSince: Instant?
    private var feedbackCount: UInt8 = 0

    // The parts of a report, kept so that making one allocates nothing.
    private var symbols: [UInt8] = []
    private var deltas: [Int16] = []

    /// Nothing has arrived.
    public init(interval: Duration = .milliseconds(50)) {
        self.interval = interval
        arrivals = Array(repeating: Self.absent, count: Self.capacity)
        symbols.reserveCapacity(Self.capacity)
        deltas.reserveCapacity(Self.capacity)
    }

    /// Records the arrival of a packet by its transport-wide sequence number.
    public mutating func receive(transportSequenceNumber: UInt16, at now: Instant) {
        guard let newest = unwrapper.newest else {
            nextToReport = unwrapper.unwrap(transportSequenceNumber)
            record(nextToReport, at: now)
            return
        }
        let number = unwrapper.unwrap(transportSequenceNumber)
        guard number > newest - Int64(Self.capacity) else { return }
        if number - newest >= Int64(Self.capacity) {
            // All records are now outside the window.
            for index in arrivals.indices { arrivals[index] = Self.absent }
            nextToReport = number
        } else if number > newest {
            for skipped in newest + 1..<number + 1 { arrivals[Self.index(skipped)] = Self.absent }
            nextToReport = max(nextToReport, number - Int64(Self.capacity) + 1)
        } else if arrivals[Self.index(number)] != Self.absent {
            return
        }
        // A late packet is reported although an earlier report called it lost: the range starts there again.
        nextToReport = min(nextToReport, number)
        record(number, at: now)
    }

    /// When a report is due; nil when there is nothing to report.
    public var nextDeadline: Instant? {
        unreportedSince.map { $0 + interval }
    }

    /// Writes one report of at most `maximumLength` bytes; returns false when nothing was left to report. If one
    /// report is not enough (many packets, or pauses of more than eight seconds), call it again until it returns false.
    public mutating func writeFeedback(
        senderSSRC: UInt32, mediaSSRC: UInt32, maximumLength: Int = 1_000, into writer: inout ByteWriter
    ) -> Bool {
        guard unreportedSince != nil, let newest = unwrapper.newest else { return false }
        symbols.removeAll(keepingCapacity: true)
        deltas.removeAll(keepingCapacity: true)
        var reference: Int64 = 0
        var time: Int64 = 0
        var deltaLength = 0
        var number = nextToReport
        while number <= newest {
            let arrival = arrivals[Self.index(number)]
            if arrival == Self.absent {
                symbols.append(0)
            } else {
                if deltas.isEmpty {
                    reference = arrival >> 8
                    time = reference << 8
                }
                guard let delta = Int16(exactly: arrival - time) else { break }
                let length = delta >= 0 && delta < 256 ? 1 : 2
                // A chunk of two bytes covers at least seven packets.
                let longest = 20 + (symbols.count / 7 + 1) * 2 + deltaLength + length + 3
                guard longest <= maximumLength || deltas.isEmpty else { break }
                deltaLength += length
                deltas.append(delta)
                symbols.append(UInt8(length))
                time = arrival
            }
            number += 1
        }
        guard !deltas.isEmpty else {
            unreportedSince = nil
            return false
        }
        write(senderSSRC: senderSSRC, mediaSSRC: mediaSSRC, reference: reference, into: &writer)
        nextToReport = number
        if number > newest { unreportedSince = nil }
        return true
    }

    private mutating func write(
        senderSSRC: UInt32, mediaSSRC: UInt32, reference: Int64, into writer: inout ByteWriter
    ) {
        let start = writer.count
        writer.writeFeedbackHeader(
            format: 15, type: RTCP.PacketType.transportFeedback, bodyLength: 0, senderSSRC: senderSSRC,
            mediaSSRC: mediaSSRC)
        writer.write(UInt16(truncatingIfNeeded: nextToReport))
        writer.write(UInt16(truncatingIfNeeded: symbols.count))
        writer.write(UInt32(truncatingIfNeeded: reference) << 8 | UInt32(feedbackCount))
        feedbackCount &+= 1
        var index = 0
        while index < symbols.count { index += writeChunk(at: index, into: &writer) }
        for delta in deltas {
            if delta >= 0, delta < 256 { writer.write(UInt8(delta)) } else { writer.write(delta) }
        }
        let padding = (4 - (writer.count - start) & 3) & 3
        for left in stride(from: padding, to: 0, by: -1) { writer.write(UInt8(left == 1 ? padding : 0)) }
        guard !writer.overflowed else { return }
        // The padding bit, as browsers set it.
        if padding > 0 {
            writer.overwrite(UInt16(0xA0 | 15) << 8 | UInt16(RTCP.PacketType.transportFeedback), at: start)
        }
        writer.overwrite(UInt16(truncatingIfNeeded: (writer.count - start) / 4 - 1), at: start + 2)
    }

    /// Writes the chunk that covers the most from `index` on, and returns how many packets it covers.
    private func writeChunk(at index: Int, into writer: inout ByteWriter) -> Int {
        let left = symbols.count - index
        let symbol = symbols[index]
        var run = 1
        while run < min(left, 0x1FFF), symbols[index + run] == symbol { run += 1 }
        let oneBit = symbols[index..<index + min(14, left)].allSatisfy { $0 < 2 }
        if run == left || run >= 14 || run >= 7 && !oneBit {
            writer.write(UInt16(symbol) << 13 | UInt16(run))
            return run
        }
        var chunk: UInt16 = oneBit ? 0x8000 : 0xC000
        let count = min(oneBit ? 14 : 7, left)
        for offset in 0..<count {
            chunk |= UInt16(symbols[index + offset]) << UInt16(oneBit ? 13 - offset : 12 - 2 * offset)
        }
        writer.write(chunk)
        return count
    }

    private mutating func record(_ number: Int64, at now: Instant) {
        arrivals[Self.index(number)] = now.nanoseconds / 250_000
        if unreportedSince == nil { unreportedSince = now }
    }

    private static func index(_ number: Int64) -> Int {
        Int(truncatingIfNeeded: number & Int64(capacity - 1))
    }
}
