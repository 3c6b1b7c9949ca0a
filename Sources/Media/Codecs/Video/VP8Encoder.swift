import CVPX

/// Encodes pictures as VP8 (RFC 6386) in real time, with one thread, without look-ahead and without skipped frames.
///
/// It uses only one thread: with more, the encoder's spinning waits cost ten times the work on a busy machine.
public struct VP8Encoder: ~Copyable {
    /// How to encode.
    public struct Configuration: Sendable, Hashable {
        /// The pictures' width in pixels.
        public var width: Int
        /// The pictures' height in pixels.
        public var height: Int
        /// Pictures per second.
        public var framesPerSecond: Int
        /// The target bit rate, in bits per second.
        public var bitsPerSecond: Int
        /// How coarse the encoder may become, within 0 (finest) to 63. With a low upper end, key frames do not look
        /// worse than the pictures before them, but turbulent pictures exceed the bit rate.
        public var quantizers: ClosedRange<Int>
        /// The effort, -16 (least) to 0.
        public var speed: Int

        /// Describes an encoder.
        public init(
            width: Int, height: Int, framesPerSecond: Int, bitsPerSecond: Int, quantizers: ClosedRange<Int> = 4...56,
            speed: Int = -8
        ) {
            self.width = width
            self.height = height
            self.framesPerSecond = framesPerSecond
            self.bitsPerSecond = bitsPerSecond
            self.quantizers = quantizers
            self.speed = speed
        }
    }

    /// The requested configuration.
    public let configuration: Configuration
    private let context: UnsafeMutablePointer<vpx_codec_ctx_t>
    private var nextPresentationTime: Int64 = 0

    /// Makes an encoder. The first picture becomes a key frame; later ones only when asked for.
    public init(_ configuration: Configuration) throws(CodecError) {
        guard (2...I420Frame.maximumSide).contains(configuration.width),
            (2...I420Frame.maximumSide).contains(configuration.height),
            (1...240).contains(configuration.framesPerSecond),
            (10_000...100_000_000).contains(configuration.bitsPerSecond),
            configuration.quantizers.lowerBound >= 0, configuration.quantizers.upperBound <= 63
        else {
            throw CodecError(codec: "VP8", operation: "make an encoder", reason: "impossible: \(configuration)")
        }
        var settings = vpx_codec_enc_cfg_t()
        vpx_codec_enc_config_default(vpx_codec_vp8_cx(), &settings, 0)
        settings.g_threads = 1
        settings.g_w = UInt32(configuration.width)
        settings.g_h = UInt32(configuration.height)
        settings.g_timebase = vpx_rational(num: 1, den: Int32(configuration.framesPerSecond))
        settings.g_lag_in_frames = 0
        settings.rc_target_bitrate = UInt32(configuration.bitsPerSecond / 1000)
        settings.rc_end_usage = VPX_CBR
        settings.rc_min_quantizer = UInt32(configuration.quantizers.lowerBound)
        settings.rc_max_quantizer = UInt32(configuration.quantizers.upperBound)
        settings.rc_undershoot_pct = 95
        settings.rc_overshoot_pct = 25
        settings.rc_buf_initial_sz = 500
        settings.rc_buf_optimal_sz = 600
        settings.rc_buf_sz = 1000
        settings.rc_dropframe_thresh = 0
        settings.kf_mode = VPX_KF_DISABLED

        let context = UnsafeMutablePointer<vpx_codec_ctx_t>.allocate(capacity: 1)
        context.initialize(to: vpx_codec_ctx_t())
        let result = gatehouse_vp8_encoder_init(context, &settings)
        guard result == VPX_CODEC_OK else {
            let reason = String(cString: vpx_codec_err_to_string(result))
            context.deinitialize(count: 1)
            context.deallocate()
            throw CodecError(codec: "VP8", operation: "make an encoder", reason: reason)
        }
        // A refused setting costs only quality or time, so none of these ends the encoder.
        _ = vpx_codec_control_VP8E_SET_CPUUSED(
            context, Int32(VP8E_SET_CPUUSED.rawValue), Int32(min(max(configuration.speed, -16), 0)))
        _ = vpx_codec_control_VP8E_SET_STATIC_THRESHOLD(context, Int32(VP8E_SET_STATIC_THRESHOLD.rawValue), 1)
        _ = vpx_codec_control_VP8E_SET_NOISE_SENSITIVITY(context, Int32(VP8E_SET_NOISE_SENSITIVITY.rawValue), 0)
        // Assigned last, so that a throw above does not run `deinit`.
        self.configuration = configuration
        self.context = context
    }

    deinit {
        vpx_codec_destroy(context)
        context.deinitialize(count: 1)
        context.deallocate()
    }

    /// Encodes the next picture and hands the coded frame to `body`. The bytes are valid until `body` returns.
    ///
    /// - Parameter isKeyFrame: whether decoding must be able to start here.
    public mutating func encode<Result>(
        _ frame: borrowing I420Frame, asKeyFrame isKeyFrame: Bool = false,
        _ body: (_ frame: UnsafeRawBufferPointer, _ isKeyFrame: Bool) -> Result
    ) throws(CodecError) -> Result {
        guard frame.width == configuration.width, frame.height == configuration.height else {
            throw CodecError(
                codec: "VP8", operation: "encode",
                reason: "the picture is \(frame.width)×\(frame.height), "
                    + "the encoder was made for \(configuration.width)×\(configuration.height)")
        }
        let time = nextPresentationTime
        nextPresentationTime += 1
        let flags = isKeyFrame ? vpx_enc_frame_flags_t(VPX_EFLAG_FORCE_KF) : 0
        let (width, height, chromaStride) = (UInt32(frame.width), UInt32(frame.height), Int32(frame.chromaWidth))
        let context = self.context
        let result = frame.luma.withUnsafeBufferPointer { luma in
            frame.chromaBlue.withUnsafeBufferPointer { chromaBlue in
                frame.chromaRed.withUnsafeBufferPointer { chromaRed in
                    var image = vpx_image_t()
                    image.fmt = VPX_IMG_FMT_I420
                    (image.w, image.h, image.d_w, image.d_h) = (width, height, width, height)
                    (image.x_chroma_shift, image.y_chroma_shift, image.bit_depth, image.bps) = (1, 1, 8, 12)
                    // The encoder only reads the planes; libvpx has no type for a read-only picture.
                    image.planes.0 = UnsafeMutablePointer(mutating: luma.baseAddress)
                    image.planes.1 = UnsafeMutablePointer(mutating: chromaBlue.baseAddress)
                    image.planes.2 = UnsafeMutablePointer(mutating: chromaRed.baseAddress)
                    (image.stride.0, image.stride.1, image.stride.2) = (Int32(width), chromaStride, chromaStride)
                    return vpx_codec_encode(context, &image, time, 1, flags, UInt(VPX_DL_REALTIME))
                }
            }
        }
        guard result == VPX_CODEC_OK else {
            throw CodecError(
                codec: "VP8", operation: "encode", reason: String(cString: vpx_codec_err_to_string(result)))
        }
        var iterator: vpx_codec_iter_t?
        while let packet = vpx_codec_get_cx_data(context, &iterator) {
            guard packet.pointee.kind == VPX_CODEC_CX_FRAME_PKT else { continue }
            let coded = packet.pointee.data.frame
            return body(
                UnsafeRawBufferPointer(start: coded.buf, count: coded.sz),
                coded.flags & vpx_codec_frame_flags_t(VPX_FRAME_IS_KEY) != 0)
        }
        throw CodecError(codec: "VP8", operation: "encode", reason: "the encoder returned no frame")
    }
}
