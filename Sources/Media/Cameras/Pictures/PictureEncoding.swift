import Codecs
import Intake
import RTP
import SDP
import Transport

/// Makes a track of H.264 from a camera's JPEG pictures. It reads no clock and waits for nothing, and stays on the
/// source's thread.
final class PictureEncoding {
    static let payloadType: UInt8 = 96
    private static let clockRate = 90_000
    /// Larger pictures are scaled down.
    private static let maximumSides = (width: 1920, height: 1200)

    private let framesPerSecond: Double
    private let keyFrameInterval: Duration
    private var encoder: H264Encoder?
    private var newest: I420Frame?
    private var pool = PacketBatchPool()
    private var sequenceNumber: UInt16
    private let firstTimestamp: UInt32
    private let start: Instant
    private var nextKeyFrame: Instant?
    /// When the newest picture was encoded, and its timestamp.
    private(set) var last: (time: Instant, timestamp: UInt32)?

    /// A track that begins at `start`. Its rate is what the encoder counts with.
    init(framesPerSecond: Double, keyFrameInterval: Duration, start: Instant, random: inout RandomSource) {
        self.framesPerSecond = framesPerSecond
        self.keyFrameInterval = keyFrameInterval
        self.start = start
        // RFC 3550, section 5.1: both begin at random.
        let first = random.next()
        sequenceNumber = UInt16(truncatingIfNeeded: first)
        firstTimestamp = UInt32(truncatingIfNeeded: first >> 32)
    }

    /// The size of the encoded pictures; nil before the first.
    private(set) var size: (width: Int, height: Int)?

    /// The next picture becomes one from which decoding can start.
    func requestKeyFrame() { nextKeyFrame = nil }

    /// Encodes a picture of the camera that came at `now`.
    ///
    /// - Returns: its packets, and the track's description where the picture's size differs from the one before.
    /// - Throws: when the picture is damaged, or too small or too large.
    func encode(
        jpeg: [UInt8], at now: Instant
    ) throws(CodecError) -> (batch: PacketBatch?, description: TrackDescription?) {
        let picture = try JPEGDecoder.decode(jpeg)
        guard !picture.isDamaged else {
            throw CodecError(codec: "JPEG", operation: "decode", reason: "parts of the picture are missing or damaged")
        }
        let size = picture.frame.size(within: Self.maximumSides.width, Self.maximumSides.height)
        let frame = picture.frame.scaled(toWidth: size.width, height: size.height)
        newest = frame
        return try encode(frame, at: now)
    }

    /// Encodes the newest picture again, as one from which decoding can start.
    func repeatPicture(at now: Instant) throws(CodecError) -> PacketBatch? {
        guard let newest else { return nil }
        requestKeyFrame()
        return try encode(newest, at: now).batch
    }

    private func encode(
        _ frame: I420Frame, at now: Instant
    ) throws(CodecError) -> (batch: PacketBatch?, description: TrackDescription?) {
        let isNewSize = size?.width != frame.width || size?.height != frame.height
        if isNewSize {
            size = nil
            encoder = try H264Encoder(Self.configuration(frame, framesPerSecond))
            size = (frame.width, frame.height)
            nextKeyFrame = nil
        }
        let isKeyFrame = nextKeyFrame.map { now >= $0 } ?? true
        guard let unit = try encoder?.encode(frame, asKeyFrame: isKeyFrame) else { return (nil, nil) }
        if isKeyFrame { nextKeyFrame = now + keyFrameInterval }
        let timestamp = timestamp(at: now)
        last = (now, timestamp)
        unit.withUnsafeBytes { bytes in
            H264Packetizer(maximumPayloadLength: PayloadLimit.everyPath).packetize(annexB: bytes) { payload in
                pool.append(
                    PacketBatch.Packet(
                        offset: 0, length: 0, timestamp: timestamp, sequenceNumber: sequenceNumber,
                        payloadType: Self.payloadType, flags: payload.flags),
                    payload: payload.bytes)
                sequenceNumber &+= 1
            }
        }
        return (pool.finish(arrival: now), isNewSize ? Self.description(of: unit) : nil)
    }

    /// A timestamp later than the one before.
    private func timestamp(at now: Instant) -> UInt32 {
        let passed = max(0, (now - start).wholeNanoseconds)
        let ticks = passed / 1_000_000_000 * Int64(Self.clockRate) + passed % 1_000_000_000 * 9 / 100_000
        let timestamp = firstTimestamp &+ UInt32(truncatingIfNeeded: ticks)
        guard let last, Int32(bitPattern: timestamp &- last.timestamp) <= 0 else { return timestamp }
        return last.timestamp &+ 1
    }

    /// Cameras that send JPEG have calm pictures with much noise: 0.12 bit per pixel, and more where pictures are rare,
    /// since they differ more.
    private static func configuration(_ frame: I420Frame, _ framesPerSecond: Double) -> H264Encoder.Configuration {
        let pixelsPerSecond = Double(frame.width * frame.height) * max(4, framesPerSecond)
        return H264Encoder.Configuration(
            width: frame.width, height: frame.height, framesPerSecond: framesPerSecond,
            bitsPerSecond: Int(min(max(pixelsPerSecond * 0.12, 200_000), 6_000_000)))
    }

    /// The track, with the parameter sets at the beginning of a key frame.
    private static func description(of unit: [UInt8]) -> TrackDescription {
        var sets: [[UInt8]] = []
        unit.withUnsafeBytes { bytes in
            for nal in AnnexBUnits(bytes)
            where [H264.UnitType.sequenceParameterSet, H264.UnitType.pictureParameterSet].contains(nal[0] & 0x1F) {
                sets.append(Array(nal))
            }
        }
        var parameters: [FormatParameters.Parameter] = [.init(name: "packetization-mode", value: "1")]
        if let set = sets.first, set.count >= 4 {
            let digits = set[1...3].map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }
            parameters.append(.init(name: "profile-level-id", value: digits.joined()))
            parameters.append(
                .init(name: "sprop-parameter-sets", value: sets.map { Base64.encode($0) }.joined(separator: ",")))
        }
        return TrackDescription(
            kind: .video,
            codec: MediaCodec(name: "H264", clockRate: clockRate, formatParameters: FormatParameters(parameters)),
            payloadType: payloadType)
    }
}
