import Codecs
import MediaRelay
import RTP
import SDP
import Transport

/// Makes pictures from what a tap on a video track brings. It has no thread and no clock.
struct PictureReader: ~Copyable {
    /// One picture and when it was taken.
    struct Picture {
        var frame: I420Frame
        /// The image as the camera sent it, if it sends images.
        var jpeg: [UInt8]?
        /// The timestamp on the track's line.
        var timestamp: UInt32
        /// The moment that the timestamp stands for.
        var capture: Instant
    }

    private var assembler: FrameAssembler
    private let decoder: VideoDecoder
    private let codec: MediaCodec
    /// The moment for the newest batch's timestamp.
    private var reference: (timestamp: UInt32, capture: Instant) = (0, .zero)
    private(set) var failures: UInt64 = 0
    private(set) var failuresInARow = 0
    private(set) var lastFailure: CodecError?

    /// Makes a reader, or says why the codec cannot be decoded.
    init(codec: MediaCodec) throws(CodecError) {
        guard let format = FrameAssembler.Format(named: codec.name) else {
            throw CodecError(
                codec: codec.name, operation: "make a decoder", reason: "there is no decoder for this codec")
        }
        self.init(codec: codec, decoder: try VideoDecoder(codec: codec.name), format: format)
    }

    // What can fail comes before the fields have values: Swift 6.2 destroys them twice if an init fails after that.
    private init(codec: MediaCodec, decoder: VideoDecoder, format: FrameAssembler.Format) {
        self.codec = codec
        self.decoder = decoder
        assembler = FrameAssembler(format: format, maximumDelay: .zero)
    }

    /// The source has restarted, or something has been skipped: decoding starts again at the next key frame.
    mutating func restart() throws(CodecError) {
        self = try PictureReader(codec: codec)
    }

    /// Whether to request a key frame from the source: true at most twice per second, while decoding waits for one.
    mutating func takeKeyFrameRequest(at now: Instant) -> Bool { assembler.takeKeyFrameRequest(at: now) }

    /// Reads a batch and returns the pictures that it completes, in display order.
    mutating func read(_ tapped: TappedBatch, _ body: (Picture) -> Void) {
        let packets = tapped.batch.packets
        reference = (packets[tapped.firstPacket].timestamp &+ tapped.timestampOffset, tapped.capture)
        for index in tapped.firstPacket..<packets.count {
            let packet = packets[index]
            assembler.insert(
                sequenceNumber: UInt16(truncatingIfNeeded: tapped.sequence(of: index)),
                timestamp: packet.timestamp &+ tapped.timestampOffset, marker: packet.flags.contains(.marker),
                payload: tapped.batch.payload(of: packet), at: tapped.batch.arrival)
            while let frame = assembler.nextFrame(at: tapped.batch.arrival) { decode(frame, body) }
        }
    }

    /// Returns what the decoder still holds back.
    mutating func finish(_ body: (Picture) -> Void) {
        let reader = describe
        do throws(CodecError) {
            try decoder.finish { body(reader($0, nil)) }
        } catch {
            record(error)
        }
    }

    private mutating func decode(_ frame: EncodedFrame, _ body: (Picture) -> Void) {
        let image = codec.isNamed("JPEG") ? frame.data : nil
        let reader = describe
        do throws(CodecError) {
            try frame.data.withUnsafeBufferPointer { bytes throws(CodecError) in
                try decoder.decode(UnsafeRawBufferPointer(bytes), timestamp: frame.timestamp) {
                    body(reader($0, image))
                }
            }
            failuresInARow = 0
        } catch {
            record(error)
        }
    }

    private mutating func record(_ error: CodecError) {
        failures += 1
        failuresInARow += 1
        lastFailure = error
    }

    /// When a decoded picture was taken.
    private var describe: (VideoDecoder.Picture, [UInt8]?) -> Picture {
        let (reference, clockRate) = (reference, Int64(max(codec.clockRate, 1)))
        return { picture, image in
            let ticks = Int64(Int32(bitPattern: picture.timestamp &- reference.timestamp))
            return Picture(
                frame: picture.frame, jpeg: image, timestamp: picture.timestamp,
                capture: reference.capture + .nanoseconds(ticks * 1_000_000_000 / clockRate))
        }
    }
}

extension I420Frame {
    /// The picture scaled down to at most `width` pixels across.
    func fitting(_ width: Int) -> I420Frame {
        guard self.width > width else { return self }
        let size = size(within: width, I420Frame.maximumSide)
        return scaled(toWidth: size.width, height: size.height)
    }
}
