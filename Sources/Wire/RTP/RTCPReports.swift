/// The sender's part of a sender report (RFC 3550, section 6.4.1).
public struct RTCPSenderReport: Equatable, Sendable, BitwiseCopyable {
    /// The stream that is reported.
    public var ssrc: UInt32
    /// The wall-clock time of the report.
    public var ntp: NTPTimestamp
    /// The same moment on the stream's RTP clock.
    public var rtpTimestamp: UInt32
    /// RTP packets sent so far, modulo 2^32.
    public var packetCount: UInt32
    /// Payload bytes sent so far without headers and padding, modulo 2^32.
    public var octetCount: UInt32

    /// Describes a report.
    public init(ssrc: UInt32, ntp: NTPTimestamp, rtpTimestamp: UInt32, packetCount: UInt32, octetCount: UInt32) {
        self.ssrc = ssrc
        self.ntp = ntp
        self.rtpTimestamp = rtpTimestamp
        self.packetCount = packetCount
        self.octetCount = octetCount
    }

    init?(body: UnsafeRawBufferPointer) {
        guard body.count >= 24 else { return nil }
        ssrc = body.bigEndian32(at: 0)
        ntp = NTPTimestamp(rawValue: UInt64(body.bigEndian32(at: 4)) << 32 | UInt64(body.bigEndian32(at: 8)))
        rtpTimestamp = body.bigEndian32(at: 12)
        packetCount = body.bigEndian32(at: 16)
        octetCount = body.bigEndian32(at: 20)
    }
}

/// What a receiver reports about one stream (RFC 3550, section 6.4.1).
public struct RTCPReportBlock: Equatable, Sendable, BitwiseCopyable {
    /// The stream that is reported on.
    public var ssrc: UInt32
    /// The part of the packets lost since the last report, in 1/256.
    public var fractionLost: UInt8
    /// Packets lost since the start, in 24 bits with sign; negative when there were more duplicates than losses.
    public var cumulativeLost: Int32
    /// The highest sequence number received, with the count of its wraps in the upper 16 bits.
    public var extendedHighestSequenceNumber: UInt32
    /// The interarrival jitter in ticks of the stream's clock.
    public var jitter: UInt32
    /// The middle 32 bits of the last sender report's time; zero when none has come.
    public var lastSenderReport: UInt32
    /// The time since that report arrived, in 1/65,536 second.
    public var delaySinceLastSenderReport: UInt32

    /// Describes a stream's reception.
    public init(
        ssrc: UInt32, fractionLost: UInt8, cumulativeLost: Int32, extendedHighestSequenceNumber: UInt32,
        jitter: UInt32, lastSenderReport: UInt32, delaySinceLastSenderReport: UInt32
    ) {
        self.ssrc = ssrc
        self.fractionLost = fractionLost
        self.cumulativeLost = cumulativeLost
        self.extendedHighestSequenceNumber = extendedHighestSequenceNumber
        self.jitter = jitter
        self.lastSenderReport = lastSenderReport
        self.delaySinceLastSenderReport = delaySinceLastSenderReport
    }

    /// The encoded length in bytes.
    static let length = 24

    init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        ssrc = bytes.bigEndian32(at: offset)
        fractionLost = bytes[offset + 4]
        // Shifted up and down again to extend the sign of the 24 bits.
        cumulativeLost = Int32(bitPattern: bytes.bigEndian24(at: offset + 5) << 8) >> 8
        extendedHighestSequenceNumber = bytes.bigEndian32(at: offset + 8)
        jitter = bytes.bigEndian32(at: offset + 12)
        lastSenderReport = bytes.bigEndian32(at: offset + 16)
        delaySinceLastSenderReport = bytes.bigEndian32(at: offset + 20)
    }
}

/// The report blocks of a sender or receiver report.
public struct RTCPReportBlocks: RandomAccessCollection {
    private let bytes: UnsafeRawBufferPointer
    public let startIndex = 0
    public let endIndex: Int

    /// Nil when the body holds fewer blocks than the header counts.
    init?(_ bytes: UnsafeRawBufferPointer, count: UInt8) {
        guard bytes.count >= Int(count) * RTCPReportBlock.length else { return nil }
        self.bytes = bytes
        endIndex = Int(count)
    }

    public subscript(position: Int) -> RTCPReportBlock {
        precondition(position >= 0 && position < endIndex, "report block index out of range")
        return RTCPReportBlock(bytes, at: position * RTCPReportBlock.length)
    }
}

/// The items of a source description (RFC 3550, section 6.5), walked over all chunks.
public struct RTCPSourceDescription: Sequence, IteratorProtocol {
    /// One item.
    public struct Item {
        /// The canonical name's item type.
        public static let canonicalName: UInt8 = 1

        /// The source that the item describes.
        public let ssrc: UInt32
        /// The item's type.
        public let type: UInt8
        /// The item's text, which should be UTF-8.
        public let bytes: UnsafeRawBufferPointer

        /// The text, with what is not UTF-8 replaced.
        public var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    private let body: UnsafeRawBufferPointer
    private var offset = 0
    private var chunksLeft: Int
    private var ssrc: UInt32?

    init(body: UnsafeRawBufferPointer, chunkCount: Int) {
        self.body = body
        chunksLeft = chunkCount
    }

    public mutating func next() -> Item? {
        // Every iteration advances the offset or ends the walk.
        while true {
            guard let ssrc else {
                guard chunksLeft > 0, body.count - offset >= 4 else { return nil }
                chunksLeft -= 1
                self.ssrc = body.bigEndian32(at: offset)
                offset += 4
                continue
            }
            guard offset < body.count else { return nil }
            let type = body[offset]
            if type == 0 {
                // The chunk ends with one to four zero bytes, up to the next multiple of four.
                self.ssrc = nil
                offset = (offset + 4) & ~3
                continue
            }
            guard body.count - offset >= 2, body.count - offset - 2 >= Int(body[offset + 1]) else {
                chunksLeft = 0
                self.ssrc = nil
                return nil
            }
            let start = offset + 2
            offset = start + Int(body[offset + 1])
            return Item(ssrc: ssrc, type: type, bytes: UnsafeRawBufferPointer(rebasing: body[start..<offset]))
        }
    }

    /// The canonical name of the first source that has one.
    public var canonicalName: String? {
        for item in self where item.type == Item.canonicalName { return item.text }
        return nil
    }
}

/// Sources that leave (RFC 3550, section 6.6).
public struct RTCPGoodbye: RandomAccessCollection {
    private let body: UnsafeRawBufferPointer
    public let startIndex = 0
    public let endIndex: Int

    init?(body: UnsafeRawBufferPointer, count: UInt8) {
        guard body.count >= Int(count) * 4 else { return nil }
        self.body = body
        endIndex = Int(count)
    }

    public subscript(position: Int) -> UInt32 {
        precondition(position >= 0 && position < endIndex, "source index out of range")
        return body.bigEndian32(at: position * 4)
    }

    /// Why they leave, with what is not UTF-8 replaced; nil when no reason is given.
    public var reason: String? {
        let rest = body.from(endIndex * 4)
        guard let length = rest.first, length > 0, rest.count > Int(length) else { return nil }
        return String(decoding: rest[1...Int(length)], as: UTF8.self)
    }
}
