import CVPX

/// Decodes VP8 frames (RFC 6386).
public struct VP8Decoder: ~Copyable {
    private let context: UnsafeMutablePointer<vpx_codec_ctx_t>
    private let maximumPixels: Int

    /// Makes a decoder that refuses pictures of more than `maximumPixels`. So a hostile key frame of a few bytes cannot
    /// make it allocate hundreds of megabytes.
    public init(maximumPixels: Int = 4096 * 2304) throws(CodecError) {
        let context = UnsafeMutablePointer<vpx_codec_ctx_t>.allocate(capacity: 1)
        context.initialize(to: vpx_codec_ctx_t())
        let result = gatehouse_vp8_decoder_init(context)
        guard result == VPX_CODEC_OK else {
            context.deinitialize(count: 1)
            context.deallocate()
            throw CodecError(
                codec: "VP8", operation: "make a decoder", reason: String(cString: vpx_codec_err_to_string(result)))
        }
        // Assigned last, so that a throw above does not run `deinit`.
        self.maximumPixels = maximumPixels
        self.context = context
    }

    deinit {
        vpx_codec_destroy(context)
        context.deinitialize(count: 1)
        context.deallocate()
    }

    /// Decodes one whole frame.
    ///
    /// - Returns: the picture; nil for a frame that is not shown.
    /// - Throws: when the frame is damaged or too large, or decoding has not started with a key frame. The decoder can
    ///   be used again from the next key frame on.
    public mutating func decode(_ frame: UnsafeRawBufferPointer) throws(CodecError) -> I420Frame? {
        // An empty frame would mean to libvpx that one was lost.
        guard frame.count >= 3, let bytes = frame.bindMemory(to: UInt8.self).baseAddress else {
            throw CodecError(
                codec: "VP8", operation: "decode", reason: "a frame of \(frame.count) bytes is too short for a header")
        }
        try checkSize(of: frame)
        let result = vpx_codec_decode(context, bytes, UInt32(clamping: frame.count), nil, 0)
        guard result == VPX_CODEC_OK else {
            throw CodecError(
                codec: "VP8", operation: "decode", reason: String(cString: vpx_codec_err_to_string(result)))
        }
        var iterator: vpx_codec_iter_t?
        guard let image = vpx_codec_get_frame(context, &iterator)?.pointee else { return nil }
        guard image.fmt == VPX_IMG_FMT_I420, let luma = image.planes.0, let chromaBlue = image.planes.1,
            let chromaRed = image.planes.2
        else {
            throw CodecError(codec: "VP8", operation: "decode", reason: "the picture is not I420")
        }
        return I420Frame(
            width: Int(image.d_w), height: Int(image.d_h), planes: (.init(luma), .init(chromaBlue), .init(chromaRed)),
            lumaStride: Int(image.stride.0), chromaStride: Int(image.stride.1))
    }

    /// Reads the size from a key frame's header (RFC 6386, section 9.1) before libvpx allocates memory for it.
    private func checkSize(of frame: UnsafeRawBufferPointer) throws(CodecError) {
        guard frame[0] & 1 == 0 else { return }
        guard frame.count >= 10 else {
            throw CodecError(
                codec: "VP8", operation: "decode",
                reason: "a key frame of \(frame.count) bytes is shorter than its header of 10")
        }
        let width = Int(frame[6]) | Int(frame[7] & 0x3F) << 8
        let height = Int(frame[8]) | Int(frame[9] & 0x3F) << 8
        guard width > 0, height > 0, width <= I420Frame.maximumSide, height <= I420Frame.maximumSide,
            width * height <= maximumPixels
        else {
            throw CodecError(
                codec: "VP8", operation: "decode",
                reason: "a key frame of \(width)×\(height) pixels is refused; at most \(maximumPixels) are decoded")
        }
    }

    /// Decodes one whole frame; see ``decode(_:)-(UnsafeRawBufferPointer)``.
    public mutating func decode(_ frame: [UInt8]) throws(CodecError) -> I420Frame? {
        try frame.withUnsafeBufferPointer { bytes throws(CodecError) in
            try decode(UnsafeRawBufferPointer(bytes))
        }
    }
}
