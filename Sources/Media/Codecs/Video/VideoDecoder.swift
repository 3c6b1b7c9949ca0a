import CAVCodec
import RTP

/// Decodes the video of any camera: H.264, H.265, VP9, AV1 and JPEG by libavcodec, VP8 by libvpx.
///
/// It works in the calling thread, without hardware. The memory that a stream can make it hold is bounded. A decoder
/// belongs to one thread at a time.
public final class VideoDecoder {
    /// The codecs.
    public enum Codec: String, Sendable, Hashable, CaseIterable {
        case h264 = "H264"
        case h265 = "H265"
        case vp8 = "VP8"
        case vp9 = "VP9"
        case av1 = "AV1"
        case jpeg = "JPEG"

        /// The codec with this `name` in `a=rtpmap`, whatever the case; nil for one that is not supported.
        public init?(named name: String) {
            self.init(rawValue: name.uppercased())
        }
    }

    /// A decoded picture and when it is shown.
    public struct Picture: Sendable {
        /// The picture.
        public var frame: I420Frame
        /// The RTP timestamp that came with the coded frame.
        public var timestamp: UInt32
        /// Parts were filled in, because they or their references were missing.
        public var isDamaged: Bool
    }

    /// The codec of the video.
    public let codec: Codec
    private let maximumPixels: Int
    // Exactly one of these is set.
    private var libav: LibavDecoder?
    private var libvpx: VP8Decoder?

    /// Makes a decoder that refuses pictures of more than `maximumPixels`.
    public init(_ codec: Codec, maximumPixels: Int = 1 << 24) throws(CodecError) {
        self.codec = codec
        self.maximumPixels = maximumPixels
        if codec == .vp8 {
            libvpx = try VP8Decoder(maximumPixels: maximumPixels)
        } else {
            libav = try Self.makeLibav(codec, maximumPixels: maximumPixels)
        }
    }

    private static func makeLibav(_ codec: Codec, maximumPixels: Int) throws(CodecError) -> LibavDecoder {
        let name =
            switch codec {
            case .h264: "h264"
            case .h265: "hevc"
            case .vp8: "vp8"
            case .vp9: "vp9"
            // libavcodec's own decoder needs hardware; this library, one of two behind libavcodec, does not.
            case .av1: "libdav1d"
            case .jpeg: "mjpeg"
            }
        do throws(CodecError) {
            return try LibavDecoder(.init(name: name, codec: codec.rawValue, maximumPixels: maximumPixels))
        } catch {
            guard codec == .av1 else { throw error }
            return try LibavDecoder(.init(name: "libaom-av1", codec: codec.rawValue, maximumPixels: maximumPixels))
        }
    }

    /// Makes a decoder for the codec with this `name` in `a=rtpmap`.
    public convenience init(codec name: String, maximumPixels: Int = 1 << 24) throws(CodecError) {
        guard let codec = Codec(named: name) else {
            throw CodecError(
                codec: name, operation: "make a decoder",
                reason: "it is not one of \(Codec.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        try self.init(codec, maximumPixels: maximumPixels)
    }

    /// Decodes one coded frame: an access unit with start codes (H.264 and H.265, annex B), a frame of VP8 or VP9, a
    /// temporal unit of AV1 whose units have their sizes, or a JFIF file. Hands the decoded pictures to `body` in
    /// display order: none, one, or several, since B-frames hold pictures back.
    ///
    /// - Throws: when the frame is damaged or decoding has not started with a key frame. The decoder can be used again
    ///   from the next key frame on.
    public func decode(
        _ frame: UnsafeRawBufferPointer, timestamp: UInt32 = 0, _ body: (consuming Picture) -> Void
    ) throws(CodecError) {
        guard libvpx == nil else {
            guard let picture = try libvpx?.decode(frame) else { return }
            body(Picture(frame: picture, timestamp: timestamp, isDamaged: false))
            return
        }
        do throws(CodecError) {
            try decodeByLibav(frame, timestamp, body)
        } catch {
            // A damaged frame can leave a decoder in a state that it does not recover from by itself. From a key frame
            // on, a new decoder works as well as the old one.
            guard isKeyFrame(frame) else { throw error }
            libav = nil
            libav = try Self.makeLibav(codec, maximumPixels: maximumPixels)
            try decodeByLibav(frame, timestamp, body)
        }
    }

    private func decodeByLibav(
        _ frame: UnsafeRawBufferPointer, _ timestamp: UInt32, _ body: (consuming Picture) -> Void
    ) throws(CodecError) {
        var failure: CodecError?
        try libav?.decode(frame, timestamp: Int64(timestamp)) { decoded in
            deliver(decoded, body, &failure)
        }
        if let failure { throw failure }
    }

    private func isKeyFrame(_ frame: UnsafeRawBufferPointer) -> Bool {
        switch codec {
        case .h264: AnnexBUnits(frame).contains { $0[0] & 0x1F == H264.UnitType.instantaneousDecoderRefresh }
        case .h265: AnnexBUnits(frame).contains { H265.isRandomAccessPoint(H265.type($0[0])) }
        case .vp9: VP9.isKeyFrame(frame)
        case .av1: AV1.isKeyFrame(frame)
        // A JPEG file does not depend on earlier frames, so a new decoder would not help.
        case .jpeg, .vp8: false
        }
    }

    /// Hands out the pictures that are still held back because others might have been shown before them, and resets the
    /// decoder. The next frame must be a key frame.
    public func finish(_ body: (consuming Picture) -> Void) throws(CodecError) {
        var failure: CodecError?
        try libav?.finish { deliver($0, body, &failure) }
        if let failure { throw failure }
    }

    private func deliver(
        _ decoded: borrowing gatehouse_av_frame, _ body: (consuming Picture) -> Void, _ failure: inout CodecError?
    ) {
        do throws(CodecError) {
            body(
                Picture(
                    frame: try I420Frame(decoded, codec: codec.rawValue),
                    timestamp: UInt32(truncatingIfNeeded: decoded.timestamp), isDamaged: decoded.is_damaged != 0))
        } catch {
            failure = error
        }
    }

    /// Decodes one coded frame; see ``decode(_:timestamp:_:)``.
    ///
    /// - Returns: the newest decoded picture; nil where none came out.
    public func decode(_ frame: [UInt8]) throws(CodecError) -> I420Frame? {
        var newest: I420Frame?
        try frame.withUnsafeBufferPointer { frame throws(CodecError) in
            try decode(UnsafeRawBufferPointer(frame)) { newest = $0.frame }
        }
        return newest
    }
}
