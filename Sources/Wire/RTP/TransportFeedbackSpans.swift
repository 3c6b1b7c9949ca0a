/// What a message of transport-wide feedback says, from its first packet to its last.
///
/// Two bytes of a message can report thousands of packets as missing, and a datagram holds dozens of messages. Packets
/// that are missing one after the other are therefore one element: its reader decides how many of them it looks at. Each
/// packet that arrived takes a byte of the message or more.
public struct TransportFeedbackSpans: Sequence, IteratorProtocol {
    /// One packet that arrived, or adjacent ones that did not.
    public enum Span: Equatable, Sendable {
        /// When a packet arrived, in the units of ``TransportFeedback/Status/arrival``.
        case arrived(UInt16, at: Int64)
        /// `count` packets from a sequence number on did not arrive. Sequence numbers wrap around within the span.
        case missing(from: UInt16, count: Int)
    }

    private let feedback: TransportFeedback
    private var index = 0
    private var chunk = TransportFeedbackChunk(rawValue: 0)
    private var indexInChunk = 0
    private var chunkOffset = 0
    private var deltaOffset = 0
    private var time: Int64

    init(_ feedback: TransportFeedback) {
        self.feedback = feedback
        time = Int64(feedback.referenceTime) * 256
    }

    public mutating func next() -> Span? {
        guard index < feedback.statusCount else { return nil }
        // An empty run is allowed, so more than one chunk may have to be skipped. The chunks are known to cover the
        // packets.
        while indexInChunk >= chunk.count {
            chunk = TransportFeedbackChunk(rawValue: feedback.chunks.bigEndian16(at: chunkOffset))
            chunkOffset += 2
            indexInChunk = 0
        }
        let number = feedback.baseSequenceNumber &+ UInt16(truncatingIfNeeded: index)
        let missing = Swift.min(chunk.missing(from: indexInChunk), feedback.statusCount - index)
        if missing > 0 {
            indexInChunk += missing
            index += missing
            return .missing(from: number, count: missing)
        }
        // A packet is not missing when its symbol is 1 or 2: the length of its arrival.
        if chunk.symbol(at: indexInChunk) == 1 {
            time += Int64(feedback.deltas[deltaOffset])
            deltaOffset += 1
        } else {
            time += Int64(Int16(bitPattern: feedback.deltas.bigEndian16(at: deltaOffset)))
            deltaOffset += 2
        }
        indexInChunk += 1
        index += 1
        return .arrived(number, at: time)
    }
}
