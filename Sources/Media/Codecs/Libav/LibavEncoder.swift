import CAVCodec

/// An encoder of libavcodec, which is loaded when the first one is made. It works only in the calling thread.
struct LibavEncoder: ~Copyable {
    /// The output format.
    struct Options {
        /// The encoder's name in libavcodec.
        var name: String
        /// The codec's name in errors.
        var codec: String
        /// Bits per second; 0 where the quality decides.
        var bitsPerSecond = 0
        /// Sound: the rate in hertz.
        var sampleRate = 0
        /// Sound: the number of channels, which all get the same sound.
        var channels = 1
        /// Sound: samples in a packet where the codec leaves it open.
        var frameLength = 0
        /// Pictures: the width in pixels.
        var width = 0
        /// Pictures: the height in pixels.
        var height = 0
        /// Pictures: the quantiser scale, 2 (best) to 31.
        var quantiser = 0
    }

    private let encoder: OpaquePointer
    private let codec: String

    init(_ options: Options) throws(CodecError) {
        try Libav.load(codec: options.codec, operation: "make an encoder")
        var created: OpaquePointer?
        let code = options.name.withCString { name in
            var settings = gatehouse_av_encoder_options()
            settings.name = name
            settings.bit_rate = Int64(options.bitsPerSecond)
            settings.sample_rate = Int32(clamping: options.sampleRate)
            settings.channels = Int32(clamping: options.channels)
            settings.frame_size = Int32(clamping: options.frameLength)
            settings.width = Int32(clamping: options.width)
            settings.height = Int32(clamping: options.height)
            settings.quality = Int32(clamping: options.quantiser)
            return gatehouse_av_encoder_create(&settings, &created)
        }
        guard code >= 0, let created else {
            throw CodecError(codec: options.codec, operation: "make an encoder", reason: Libav.words(for: code))
        }
        encoder = created
        codec = options.codec
    }

    deinit {
        gatehouse_av_encoder_free(encoder)
    }

    /// How many samples per channel each call of ``encode(_:_:)`` must pass.
    var frameLength: Int { Int(gatehouse_av_encoder_frame_size(encoder)) }

    /// Encodes one frame of mono sound and hands the packets to `body`. The bytes are valid until `body` returns.
    mutating func encode(
        _ samples: UnsafeBufferPointer<Int16>, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(CodecError) {
        try check(gatehouse_av_encoder_send_samples(encoder, samples.baseAddress, Int32(clamping: samples.count)))
        try receive(body)
    }

    /// Encodes one full-range picture in the encoder's size, and hands the packets to `body`.
    mutating func encode(
        luma: [UInt8], chromaBlue: [UInt8], chromaRed: [UInt8], _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(CodecError) {
        try check(gatehouse_av_encoder_send_picture(encoder, luma, chromaBlue, chromaRed))
        try receive(body)
    }

    private func receive(_ body: (UnsafeRawBufferPointer) -> Void) throws(CodecError) {
        for _ in 0..<64 {
            var bytes: UnsafePointer<UInt8>?
            var count = 0
            let code = gatehouse_av_encoder_receive(encoder, &bytes, &count)
            guard code != 0 else { return }
            try check(code)
            body(UnsafeRawBufferPointer(start: bytes, count: count))
        }
    }

    private func check(_ code: Int32) throws(CodecError) {
        guard code >= 0 else {
            throw CodecError(codec: codec, operation: "encode", reason: Libav.words(for: code))
        }
    }
}
