import Intake
import RTP
import StreamFormats
import Transport

/// Puts the units of one track into RTP packets, which then take the way of every camera's packets.
struct UnitPacketizer {
    private let codec: StreamTrack.Codec
    private let payloadType: UInt8
    private let ssrc: UInt32
    private var sequenceNumber: UInt16
    private var clock: SampleClock
    private var packet: [UInt8] = []
    /// The timestamp of the newest unit.
    private(set) var timestamp: UInt32 = 0

    private static let headerLength = RTPPacketView.fixedHeaderLength
    private static let limit = PayloadLimit.everyPath

    init(_ codec: StreamTrack.Codec, clockRate: Int, payloadType: UInt8, random: inout RandomSource) {
        self.codec = codec
        self.payloadType = payloadType
        let first = random.next()
        ssrc = UInt32(truncatingIfNeeded: first)
        sequenceNumber = UInt16(truncatingIfNeeded: first >> 32)
        clock = SampleClock(clockRate: clockRate)
    }

    /// Hands the packets of a unit to `body`. Each lives only as long as the call.
    mutating func packetize(_ unit: StreamUnit, _ body: (UnsafeRawBufferPointer) -> Void) {
        switch codec {
        case .h264:
            timestamp = UInt32(truncatingIfNeeded: unit.presentation)
            unit.bytes.withUnsafeBytes { bytes in
                H264Packetizer(maximumPayloadLength: Self.limit).packetize(annexB: bytes) { payload in
                    send(payload.bytes, marker: payload.isLast, body)
                }
            }
        case .h265:
            timestamp = UInt32(truncatingIfNeeded: unit.presentation)
            unit.bytes.withUnsafeBytes { bytes in
                H265Packetizer(maximumPayloadLength: Self.limit).packetize(annexB: bytes) { payload in
                    send(payload.bytes, marker: payload.isLast, body)
                }
            }
        case .aac: packetizeAAC(unit, body)
        case .pcmu, .pcma, .opus:
            timestamp = clock.timestamp(at: unit.presentation, lasting: codec.duration(of: unit.bytes))
            unit.bytes.withUnsafeBytes { send($0, marker: false, body) }
        }
    }

    /// One access unit with its header in a packet, or in fragments (RFC 3640, sections 3.2.1 and 3.3.6).
    private mutating func packetizeAAC(_ unit: StreamUnit, _ body: (UnsafeRawBufferPointer) -> Void) {
        // The size has 13 bits.
        guard unit.bytes.count < 8192 else { return }
        timestamp = clock.timestamp(at: unit.presentation, lasting: codec.duration(of: unit.bytes))
        let size = unit.bytes.count
        let header: [UInt8] = [0, 16, UInt8(truncatingIfNeeded: size >> 5), UInt8(truncatingIfNeeded: size << 3)]
        let length = PayloadLimit.fragmentLength(of: size, limit: Self.limit - header.count)
        for start in stride(from: 0, to: size, by: max(1, length)) {
            let end = min(start + length, size)
            (header + unit.bytes[start..<end]).withUnsafeBytes { send($0, marker: end == size, body) }
        }
    }

    private mutating func send(
        _ payload: UnsafeRawBufferPointer, marker: Bool, _ body: (UnsafeRawBufferPointer) -> Void
    ) {
        packet.removeAll(keepingCapacity: true)
        packet += [0x80, payloadType | (marker ? 0x80 : 0)]
        packet += [UInt8(truncatingIfNeeded: sequenceNumber >> 8), UInt8(truncatingIfNeeded: sequenceNumber)]
        for value in [timestamp, ssrc] {
            for shift in [UInt32(24), 16, 8, 0] { packet.append(UInt8(truncatingIfNeeded: value >> shift)) }
        }
        packet.append(contentsOf: payload)
        sequenceNumber &+= 1
        packet.withUnsafeBytes(body)
    }
}
