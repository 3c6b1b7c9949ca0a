/// When which packets arrived (draft-holmer-rmcat-transport-wide-cc-extensions-01, section 3.1), read in place.
///
/// Iteration gives each packet that the message covers, from first to last, lost ones included: at most 65,535.
public struct TransportFeedback: Sequence {
    /// What became of one packet.
    public struct Status: Equatable, Sendable, BitwiseCopyable {
        /// The transport-wide sequence number.
        public let sequenceNumber: UInt16
        /// When it arrived, in units of 250 µs on the receiver's clock (which starts anywhere and wraps with
        /// ``TransportFeedback/referenceTime``); nil when it did not arrive.
        public let arrival: Int64?
    }

    /// The source that reports.
    public let senderSSRC: UInt32
    /// A stream that is reported on; the sequence numbers are those of the whole transport.
    public let mediaSSRC: UInt32
    /// The first reported sequence number.
    public let baseSequenceNumber: UInt16
    /// The number of reported packets.
    public let statusCount: Int
    /// The time from which the first arrival counts, in units of 64 ms, 24 bits with sign.
    public let referenceTime: Int32
    /// The message's number. It shows a sender that a message was lost.
    public let feedbackCount: UInt8

    let chunks: UnsafeRawBufferPointer
    let deltas: UnsafeRawBufferPointer

    /// Nil when the chunks do not cover the packets, when a reserved status is used, or when arrivals are missing.
    init?(body: UnsafeRawBufferPointer) {
        guard body.count >= 18 else { return nil }
        senderSSRC = body.bigEndian32(at: 0)
        mediaSSRC = body.bigEndian32(at: 4)
        baseSequenceNumber = body.bigEndian16(at: 8)
        statusCount = Int(body.bigEndian16(at: 10))
        referenceTime = Int32(bitPattern: body.bigEndian24(at: 12) << 8) >> 8
        feedbackCount = body[15]
        chunks = body.from(16)

        var covered = 0
        var offset = 0
        var deltaLength = 0
        while covered < statusCount {
            guard chunks.count - offset >= 2 else { return nil }
            let chunk = TransportFeedbackChunk(rawValue: chunks.bigEndian16(at: offset))
            offset += 2
            let count = Swift.min(chunk.count, statusCount - covered)
            guard let length = chunk.deltaLength(count: count) else { return nil }
            deltaLength += length
            covered += count
        }
        guard chunks.count - offset >= deltaLength else { return nil }
        deltas = chunks.from(offset)
    }

    public func makeIterator() -> Iterator { Iterator(spans) }

    /// What the message says, in spans: it costs no more to read than the message has bytes, whatever it claims.
    public var spans: TransportFeedbackSpans { TransportFeedbackSpans(self) }

    /// Walks the packets.
    public struct Iterator: IteratorProtocol {
        private var spans: TransportFeedbackSpans
        private var missing: (next: UInt16, count: Int) = (0, 0)

        fileprivate init(_ spans: TransportFeedbackSpans) { self.spans = spans }

        public mutating func next() -> Status? {
            if missing.count == 0 {
                switch spans.next() {
                case .arrived(let number, let arrival): return Status(sequenceNumber: number, arrival: arrival)
                case .missing(let first, let count): missing = (first, count)
                case nil: return nil
                }
            }
            defer { missing = (missing.next &+ 1, missing.count - 1) }
            return Status(sequenceNumber: missing.next, arrival: nil)
        }
    }
}

/// Two bytes that hold the status of several packets (section 3.1.2 to 3.1.4).
struct TransportFeedbackChunk: BitwiseCopyable {
    let rawValue: UInt16

    var isRunLength: Bool { rawValue & 0x8000 == 0 }
    var isTwoBit: Bool { rawValue & 0x4000 != 0 }

    /// How many packets the chunk covers; a run may cover none.
    var count: Int { isRunLength ? Int(rawValue & 0x1FFF) : isTwoBit ? 7 : 14 }

    /// 0: not received, 1: received after a short time, 2: received after a long or negative time, 3: reserved.
    func symbol(at index: Int) -> Int {
        if isRunLength { return Int(rawValue >> 13 & 3) }
        if isTwoBit { return Int(rawValue >> UInt16(12 - 2 * index) & 3) }
        return Int(rawValue >> UInt16(13 - index) & 1)
    }

    /// How many packets from `index` on did not arrive, one after the other.
    func missing(from index: Int) -> Int {
        if isRunLength { return symbol(at: index) == 0 ? count - index : 0 }
        var end = index
        while end < count, symbol(at: end) == 0 { end += 1 }
        return end - index
    }

    /// How many bytes of arrivals the first `count` packets need; nil when one has the reserved status.
    func deltaLength(count: Int) -> Int? {
        if isRunLength {
            let symbol = symbol(at: 0)
            return symbol == 3 ? nil : symbol * count
        }
        var length = 0
        for index in 0..<count {
            let symbol = symbol(at: index)
            guard symbol != 3 else { return nil }
            length += symbol
        }
        return length
    }
}
