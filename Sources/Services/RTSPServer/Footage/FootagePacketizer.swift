import FragmentedMP4
import PushAvStreamTransport
import RTP
import Transport

/// Puts the recorded samples of one track into RTP packets.
struct FootagePacketizer: ~Copyable {
    let codec: FootageCodec
    let clockRate: Int
    private var vp8: VP8Packetizer
    private var vp9: VP9Packetizer
    private var pool = PacketBatchPool()
    /// The number of the next packet, from 0 on.
    private var nextSequence: Int64 = 0
    /// Whether decoding can begin with the sample that is being packetized, as the file says.
    private var isSync = false

    init(_ codec: FootageCodec, clockRate: Int, firstPictureID: UInt16) {
        self.codec = codec
        self.clockRate = clockRate
        vp8 = VP8Packetizer(firstPictureID: firstPictureID)
        vp9 = VP9Packetizer(firstPictureID: firstPictureID)
    }

    /// The packets of a sample; nil when its bytes cannot be read.
    /// - Returns: the batch, and the number of its first packet.
    mutating func packets(
        _ sample: borrowing FootageReader.Sample, timestamp: UInt32
    ) -> (batch: PacketBatch, firstSequence: Int64)? {
        let first = nextSequence
        isSync = sample.isSync
        switch codec {
        case .h264, .h265:
            guard var frame = MP4Header.Track.annexB(sample.data) else { return nil }
            if sample.isSync, let sets = sample.track.parameterSets { frame = sets + frame }
            frame.withUnsafeBytes { bytes in
                if codec == .h264 {
                    H264Packetizer().packetize(annexB: bytes) { add($0.bytes, $0.flags, timestamp) }
                } else {
                    H265Packetizer().packetize(annexB: bytes) { add($0.bytes, $0.flags, timestamp) }
                }
            }
        case .vp8:
            var packetizer = vp8
            sample.data.withUnsafeBytes { packetizer.packetize($0) { add($0.bytes, $0.flags, timestamp) } }
            vp8 = packetizer
        case .vp9:
            var packetizer = vp9
            sample.data.withUnsafeBytes { packetizer.packetize($0) { add($0.bytes, $0.flags, timestamp) } }
            vp9 = packetizer
        case .av1:
            sample.data.withUnsafeBytes { bytes in
                AV1Packetizer().packetize(temporalUnit: bytes) { add($0.bytes, $0.flags, timestamp) }
            }
        case .opus:
            guard !sample.data.isEmpty else { return nil }
            // RFC 7587, section 4.2: the marker is for the first packet after silence.
            sample.data.withUnsafeBytes { add($0, [.startsFrame, .keyFrame], timestamp) }
        case .aac: addAAC(sample.data, timestamp)
        }
        return pool.finish(arrival: .zero).map { ($0, first) }
    }

    /// One access unit, whole or in fragments with its length in each (RFC 3640, section 3.2.3.1).
    private mutating func addAAC(_ unit: [UInt8], _ timestamp: UInt32) {
        guard !unit.isEmpty, unit.count < 8192 else { return }
        let head = MPEG4Generic.singleUnitHeaderLength
        var payload = [UInt8](repeating: 0, count: head)
        payload.withUnsafeMutableBytes { MPEG4Generic.writeSingleUnitHeader(length: unit.count, into: $0) }
        let size = PayloadLimit.fragmentLength(of: unit.count, limit: PayloadLimit.standard - head)
        var offset = 0
        while offset < unit.count {
            let end = min(unit.count, offset + size)
            payload.replaceSubrange(head..., with: unit[offset..<end])
            var flags: PacketBatch.Flags = [.keyFrame]
            if offset == 0 { flags.insert(.startsFrame) }
            if end == unit.count { flags.insert(.marker) }
            payload.withUnsafeBytes { add($0, flags, timestamp) }
            offset = end
        }
    }

    private mutating func add(_ payload: UnsafeRawBufferPointer, _ flags: PacketBatch.Flags, _ timestamp: UInt32) {
        var flags = flags
        if isSync { flags.insert(.keyFrame) } else { flags.remove(.keyFrame) }
        pool.append(
            PacketBatch.Packet(
                offset: 0, length: 0, timestamp: timestamp, sequenceNumber: UInt16(truncatingIfNeeded: nextSequence),
                payloadType: 0, flags: flags),
            payload: payload)
        nextSequence += 1
    }
}
