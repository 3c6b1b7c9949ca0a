import Codecs
import MediaRelay
import RTP
import SDP
import Transport

/// Transcodes a camera's video to VP8, picture by picture. It has no thread and no clock.
struct VideoTranscoding: ~Copyable {
    /// Larger pictures are scaled down: VP8 at 2560 pixels across would use more than one core.
    static let maximumWidth = 1920

    private var reader: PictureReader
    private var encoder: VP8Encoder?
    /// The encoder's settings.
    private var size = (0, 0)
    private var packetizer: VP8Packetizer
    private var pool = PacketBatchPool()
    private var sequenceNumber: UInt16
    private var lastTimestamp: UInt32?
    private var needsKeyFrame = true
    private(set) var counters = TranscodingCounters()
    /// Whether there is no room for pictures of this size.
    private(set) var hasNoRoom = false

    init(codec: MediaCodec, firstPictureID: UInt16, firstSequenceNumber: UInt16) throws(CodecError) {
        let reader = try PictureReader(codec: codec)
        self.init(reader: reader, firstPictureID: firstPictureID, firstSequenceNumber: firstSequenceNumber)
    }

    // What can fail comes before the fields have values: Swift 6.2 destroys them twice if an init fails after that.
    private init(reader: consuming PictureReader, firstPictureID: UInt16, firstSequenceNumber: UInt16) {
        self.reader = reader
        packetizer = VP8Packetizer(firstPictureID: firstPictureID)
        sequenceNumber = firstSequenceNumber
    }

    var failuresInARow: Int { reader.failuresInARow }
    var lastFailure: CodecError? { reader.lastFailure }

    /// The source has restarted, or something was skipped.
    mutating func restart() throws(CodecError) {
        try reader.restart()
        needsKeyFrame = true
    }

    /// The next picture is one that decoding can start from.
    mutating func requestKeyFrame() { needsKeyFrame = true }

    /// Whether to request a key frame from the source, because one is needed to continue.
    mutating func takeSourceRequest(at now: Instant) -> Bool { reader.takeKeyFrameRequest(at: now) }

    /// Transcodes what the tap brought.
    /// - Parameters:
    ///   - isBehind: whether more is waiting: then pictures are decoded, because others need them, but not encoded.
    ///   - width: returns how wide a picture of a given size may be; nil if there is no room for it at all.
    mutating func transcode(
        _ tapped: TappedBatch, isBehind: Bool, width: (PictureSize) -> Int? = { _ in VideoTranscoding.maximumWidth }
    ) throws(CodecError) -> AudioTranscoding.Output {
        var output = AudioTranscoding.Output()
        var pictures: [PictureReader.Picture] = []
        reader.read(tapped) { pictures.append($0) }
        counters.failures = reader.failures
        for picture in pictures {
            if isBehind {
                counters.skipped += 1
                continue
            }
            // Timestamps rise, whatever the camera's do: a picture that is not newer would replace one that was shown.
            if let lastTimestamp, Int32(bitPattern: picture.timestamp &- lastTimestamp) <= 0, !needsKeyFrame {
                continue
            }
            lastTimestamp = picture.timestamp
            guard let most = width(PictureSize(width: picture.frame.width, height: picture.frame.height)) else {
                hasNoRoom = true
                break
            }
            try encode(picture, width: min(most, Self.maximumWidth))
            if output.capture == nil { output.capture = (picture.timestamp, picture.capture) }
        }
        output.batch = pool.finish(arrival: tapped.batch.arrival)
        return output
    }

    private mutating func encode(_ picture: PictureReader.Picture, width: Int) throws(CodecError) {
        let frame = picture.frame.fitting(width)
        try prepareEncoder(for: frame)
        let isKeyFrame = needsKeyFrame
        needsKeyFrame = false
        counters.packets += 1
        try encoder?.encode(frame, asKeyFrame: isKeyFrame) { bytes, _ in
            packetizer.packetize(bytes) { payload in
                pool.append(
                    PacketBatch.Packet(
                        offset: 0, length: 0, timestamp: picture.timestamp, sequenceNumber: sequenceNumber,
                        payloadType: DerivedTrack.vp8PayloadType, flags: payload.flags),
                    payload: payload.bytes)
                sequenceNumber &+= 1
            }
        }
    }

    /// Makes the encoder for pictures of this size: a camera may change it at any key frame.
    private mutating func prepareEncoder(for frame: borrowing I420Frame) throws(CodecError) {
        if size == (frame.width, frame.height) { return }
        needsKeyFrame = true
        // Calm pictures of a fixed camera need about 0.1 bit per pixel at 15 pictures per second.
        let bits = min(max(frame.width * frame.height * 15 / 10, 300_000), 4_000_000)
        encoder = try VP8Encoder(
            VP8Encoder.Configuration(
                width: frame.width, height: frame.height, framesPerSecond: 15, bitsPerSecond: bits, speed: -10))
        size = (frame.width, frame.height)
    }
}
