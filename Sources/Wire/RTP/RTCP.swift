/// RTCP (RFC 3550, section 6; RFC 4585; RFC 5104; RFC 5506).
public enum RTCP {
    /// The packet types (RFC 3550, section 12.1; RFC 4585, section 6.1; RFC 3611).
    public enum PacketType {
        public static let senderReport: UInt8 = 200
        public static let receiverReport: UInt8 = 201
        public static let sourceDescription: UInt8 = 202
        public static let goodbye: UInt8 = 203
        public static let application: UInt8 = 204
        public static let transportFeedback: UInt8 = 205
        public static let payloadFeedback: UInt8 = 206
        public static let extendedReport: UInt8 = 207
    }

    /// Whether a datagram that shares a port with RTP is RTCP (RFC 5761, section 4): its second byte is a packet type
    /// of 192 to 223. SRTCP keeps that byte in the clear, so this works before decryption.
    @inlinable
    public static func isRTCP(_ datagram: UnsafeRawBufferPointer) -> Bool {
        datagram.count >= 4 && datagram[0] >> 6 == 2 && datagram[1] >= 192 && datagram[1] <= 223
    }
}

/// Why the rest of a compound RTCP packet could not be read.
public enum RTCPProblem: Error, Equatable, Sendable, BitwiseCopyable, CustomStringConvertible {
    /// Fewer than four bytes are left where a packet must start.
    case truncatedHeader(offset: Int)
    /// The version field is not 2.
    case unsupportedVersion(offset: Int)
    /// The packet's length field reaches past the end of the datagram.
    case truncatedPacket(offset: Int, type: UInt8)
    /// The padding count is zero, or larger than the packet.
    case invalidPadding(offset: Int, type: UInt8)

    public var description: String {
        switch self {
        case .truncatedHeader(let offset): "RTCP packet at offset \(offset) ends inside its header"
        case .unsupportedVersion(let offset): "RTCP packet at offset \(offset) is not of version 2"
        case .truncatedPacket(let offset, let type):
            "RTCP packet of type \(type) at offset \(offset) is longer than the datagram"
        case .invalidPadding(let offset, let type):
            "RTCP packet of type \(type) at offset \(offset) has an impossible padding count"
        }
    }
}

/// One RTCP packet, read in place: the bytes must outlive it.
public enum RTCPPacket {
    case senderReport(RTCPSenderReport, blocks: RTCPReportBlocks)
    case receiverReport(ssrc: UInt32, blocks: RTCPReportBlocks)
    case sourceDescription(RTCPSourceDescription)
    case goodbye(RTCPGoodbye)
    /// Packets that the peer misses (RFC 4585, section 6.2.1).
    case nack(RTCPNack)
    /// The peer asks for a key frame (RFC 4585, section 6.3.1).
    case pictureLossIndication(senderSSRC: UInt32, mediaSSRC: UInt32)
    /// The peer asks for key frames (RFC 5104, section 4.3.1).
    case fullIntraRequest(RTCPFullIntraRequest)
    /// The peer's estimate of what the path carries (draft-alvestrand-rmcat-remb-03).
    case receiverEstimatedMaximumBitrate(RTCPReceiverEstimatedMaximumBitrate)
    /// When which packets arrived (draft-holmer-rmcat-transport-wide-cc-extensions-01).
    case transportFeedback(TransportFeedback)
    /// A type or format that this project does not read, extended reports (RFC 3611) among them. `format` is the
    /// header's 5-bit count or format; the body follows the four bytes of the header.
    case unknown(type: UInt8, format: UInt8, body: UnsafeRawBufferPointer)
    /// A known type whose body does not hold what its type requires. The packets after it can still be read.
    case malformed(type: UInt8, format: UInt8, body: UnsafeRawBufferPointer)
}

/// Walks the packets of a compound (RFC 3550, section 6.1) or reduced-size (RFC 5506) RTCP packet.
///
/// Only those rules for compound packets are enforced without which the bytes make no sense. Peers break the others (a
/// report first, a CNAME in each), and nothing here depends on them.
public struct RTCPPackets: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    /// Why the walk ended early; nil while it is in progress, and when everything was read.
    public private(set) var problem: RTCPProblem?

    /// Starts at a datagram's first byte, after decryption.
    public init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    public mutating func next() -> RTCPPacket? {
        guard problem == nil, offset < bytes.count else { return nil }
        guard bytes.count - offset >= 4 else { return stop(.truncatedHeader(offset: offset)) }
        let head = bytes[offset]
        let type = bytes[offset + 1]
        guard head >> 6 == 2 else { return stop(.unsupportedVersion(offset: offset)) }
        let length = Int(bytes.bigEndian16(at: offset + 2)) * 4
        guard bytes.count - offset - 4 >= length else { return stop(.truncatedPacket(offset: offset, type: type)) }
        var body = UnsafeRawBufferPointer(rebasing: bytes[offset + 4..<offset + 4 + length])
        if head & 0x20 != 0 {
            // Deviation from RFC 3550, section 6.4.1, by which the count is a multiple of four: browsers fill transport-wide
            // feedback up to whole words, with one to three octets.
            let padding = Int(body.last ?? 0)
            guard padding > 0, padding <= body.count else {
                return stop(.invalidPadding(offset: offset, type: type))
            }
            body = UnsafeRawBufferPointer(rebasing: body[..<(body.count - padding)])
        }
        offset += 4 + length
        let format = head & 0x1F
        return Self.parse(type: type, format: format, body: body) ?? .malformed(type: type, format: format, body: body)
    }

    private mutating func stop(_ problem: RTCPProblem) -> RTCPPacket? {
        self.problem = problem
        return nil
    }

    /// Reads one packet; nil when its body does not hold what its type requires.
    private static func parse(type: UInt8, format: UInt8, body: UnsafeRawBufferPointer) -> RTCPPacket? {
        switch (type, format) {
        case (RTCP.PacketType.senderReport, _):
            guard let report = RTCPSenderReport(body: body),
                let blocks = RTCPReportBlocks(body.from(24), count: format)
            else { return nil }
            return .senderReport(report, blocks: blocks)
        case (RTCP.PacketType.receiverReport, _):
            guard body.count >= 4, let blocks = RTCPReportBlocks(body.from(4), count: format) else { return nil }
            return .receiverReport(ssrc: body.bigEndian32(at: 0), blocks: blocks)
        case (RTCP.PacketType.sourceDescription, _):
            return .sourceDescription(RTCPSourceDescription(body: body, chunkCount: Int(format)))
        case (RTCP.PacketType.goodbye, _):
            return RTCPGoodbye(body: body, count: format).map { .goodbye($0) }
        case (RTCP.PacketType.transportFeedback, 1):
            return RTCPNack(body: body).map { .nack($0) }
        case (RTCP.PacketType.transportFeedback, 15):
            return TransportFeedback(body: body).map { .transportFeedback($0) }
        case (RTCP.PacketType.payloadFeedback, 1):
            guard body.count >= 8 else { return nil }
            return .pictureLossIndication(senderSSRC: body.bigEndian32(at: 0), mediaSSRC: body.bigEndian32(at: 4))
        case (RTCP.PacketType.payloadFeedback, 4):
            return RTCPFullIntraRequest(body: body).map { .fullIntraRequest($0) }
        case (RTCP.PacketType.payloadFeedback, 15)
        where body.count >= 12 && body.bigEndian32(at: 8) == RTCPReceiverEstimatedMaximumBitrate.identifier:
            return RTCPReceiverEstimatedMaximumBitrate(body: body).map { .receiverEstimatedMaximumBitrate($0) }
        default:
            return .unknown(type: type, format: format, body: body)
        }
    }
}
