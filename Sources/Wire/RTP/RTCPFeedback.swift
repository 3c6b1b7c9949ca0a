/// A generic negative acknowledgement (RFC 4585, section 6.2.1): the sequence numbers that the peer misses.
public struct RTCPNack: Sequence, IteratorProtocol {
    /// The source that asks.
    public let senderSSRC: UInt32
    /// The stream that the packets belong to.
    public let mediaSSRC: UInt32
    private let entries: UnsafeRawBufferPointer
    private var offset = 0
    /// Bit 0 is the packet identifier itself, bits 1 to 16 the sequence numbers after it.
    private var pending: UInt32 = 0
    private var base: UInt16 = 0

    init?(body: UnsafeRawBufferPointer) {
        guard body.count >= 12 else { return nil }
        senderSSRC = body.bigEndian32(at: 0)
        mediaSSRC = body.bigEndian32(at: 4)
        entries = body.from(8)
    }

    public mutating func next() -> UInt16? {
        if pending == 0 {
            guard entries.count - offset >= 4 else { return nil }
            base = entries.bigEndian16(at: offset)
            pending = UInt32(entries.bigEndian16(at: offset + 2)) << 1 | 1
            offset += 4
        }
        let bit = pending.trailingZeroBitCount
        pending &= pending - 1
        return base &+ UInt16(truncatingIfNeeded: bit)
    }
}

/// A request for key frames (RFC 5104, section 4.3.1).
public struct RTCPFullIntraRequest: RandomAccessCollection {
    /// One stream that is asked for a key frame.
    public struct Entry: Equatable, Sendable, BitwiseCopyable {
        /// The stream.
        public let ssrc: UInt32
        /// The request's number: the same number repeats the same request.
        public let sequenceNumber: UInt8
    }

    /// The source that asks.
    public let senderSSRC: UInt32
    private let entries: UnsafeRawBufferPointer
    public let startIndex = 0
    public var endIndex: Int { entries.count / 8 }

    init?(body: UnsafeRawBufferPointer) {
        guard body.count >= 16 else { return nil }
        senderSSRC = body.bigEndian32(at: 0)
        entries = body.from(8)
    }

    public subscript(position: Int) -> Entry {
        precondition(position >= 0 && position < endIndex, "entry index out of range")
        return Entry(ssrc: entries.bigEndian32(at: position * 8), sequenceNumber: entries[position * 8 + 4])
    }
}

/// A receiver's estimate of what the path carries (draft-alvestrand-rmcat-remb-03, section 2.2).
public struct RTCPReceiverEstimatedMaximumBitrate: RandomAccessCollection {
    /// The letters `REMB`.
    static let identifier: UInt32 = 0x5245_4D42

    /// The source that estimates.
    public let senderSSRC: UInt32
    /// The estimate for all the streams together, in bits a second.
    public let bitsPerSecond: UInt64
    private let sources: UnsafeRawBufferPointer
    public let startIndex = 0
    public let endIndex: Int

    init?(body: UnsafeRawBufferPointer) {
        guard body.count >= 16 else { return nil }
        let count = Int(body[12])
        guard body.count - 16 >= count * 4 else { return nil }
        senderSSRC = body.bigEndian32(at: 0)
        let exponent = body[13] >> 2
        let mantissa = UInt64(body.bigEndian24(at: 13) & 0x3_FFFF)
        // 18 bits shifted by up to 63 do not fit: an estimate so high means no limit.
        bitsPerSecond = mantissa.leadingZeroBitCount >= Int(exponent) ? mantissa << UInt64(exponent) : .max
        sources = body.from(16)
        endIndex = count
    }

    /// One of the streams that the estimate is for.
    public subscript(position: Int) -> UInt32 {
        precondition(position >= 0 && position < endIndex, "source index out of range")
        return sources.bigEndian32(at: position * 4)
    }
}
