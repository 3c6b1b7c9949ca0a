import CAVCodec

/// A decoder of libavcodec, which is loaded when the first one is made.
///
/// It works only in the calling thread and without hardware. The memory that it may hold is bounded, whatever the
/// stream asks for.
struct LibavDecoder: ~Copyable {
    /// What the decoder needs before the first frame.
    struct Options {
        /// The decoder's name in libavcodec.
        var name: String
        /// The codec's name in errors.
        var codec: String
        /// The configuration record of the codec.
        var extradata: [UInt8] = []
        /// Sound: the rate in hertz from the session description; 0 where the stream states it.
        var sampleRate = 0
        /// Sound: the number of channels.
        var channels = 1
        /// ADPCM: the bits of a code word.
        var bitsPerCodedSample = 0
        /// The largest picture: the largest cameras send 16 megapixels.
        var maximumPixels = 1 << 24
        /// The most memory for pictures that are held for reference.
        var maximumBytes = 256 << 20
    }

    /// The longest coded frame that is accepted, in bytes.
    static let maximumInput = 8 << 20

    private let decoder: OpaquePointer
    private let codec: String

    init(_ options: Options) throws(CodecError) {
        try Libav.load(codec: options.codec, operation: "make a decoder")
        var created: OpaquePointer?
        let code = options.name.withCString { name in
            options.extradata.withUnsafeBufferPointer { extradata in
                var settings = gatehouse_av_decoder_options()
                settings.name = name
                settings.extradata = extradata.baseAddress
                settings.extradata_size = Int32(clamping: extradata.count)
                settings.sample_rate = Int32(clamping: options.sampleRate)
                settings.channels = Int32(clamping: options.channels)
                settings.bits_per_coded_sample = Int32(clamping: options.bitsPerCodedSample)
                settings.maximum_pixels = Int64(options.maximumPixels)
                settings.maximum_bytes = Int64(options.maximumBytes)
                return gatehouse_av_decoder_create(&settings, &created)
            }
        }
        guard code >= 0, let created else {
            throw CodecError(codec: options.codec, operation: "make a decoder", reason: Libav.words(for: code))
        }
        decoder = created
        codec = options.codec
    }

    deinit {
        gatehouse_av_decoder_free(decoder)
    }

    /// Decodes one coded frame and hands the results to `body`. The memory of a frame is valid until `body` returns.
    mutating func decode(
        _ bytes: UnsafeRawBufferPointer, timestamp: Int64 = 0, _ body: (borrowing gatehouse_av_frame) -> Void
    ) throws(CodecError) {
        guard !bytes.isEmpty, bytes.count <= Self.maximumInput else {
            throw CodecError(
                codec: codec, operation: "decode",
                reason: "a frame of \(bytes.count) bytes is not between 1 and \(Self.maximumInput)")
        }
        let sent = bytes.withMemoryRebound(to: UInt8.self) { bytes in
            gatehouse_av_decoder_send(decoder, bytes.baseAddress, bytes.count, timestamp)
        }
        try receive(body)
        guard sent >= 0 else {
            throw CodecError(codec: codec, operation: "decode", reason: Libav.words(for: sent))
        }
    }

    /// Hands out the frames that the decoder still holds back, and resets it.
    mutating func finish(_ body: (borrowing gatehouse_av_frame) -> Void) throws(CodecError) {
        gatehouse_av_decoder_send(decoder, nil, 0, 0)
        defer { gatehouse_av_decoder_flush(decoder) }
        try receive(body)
    }

    /// Drops all input so far.
    mutating func flush() {
        gatehouse_av_decoder_flush(decoder)
    }

    private func receive(_ body: (borrowing gatehouse_av_frame) -> Void) throws(CodecError) {
        // One coded frame gives a few frames at most. The bound protects against a decoder that does not end.
        for _ in 0..<64 {
            var frame = gatehouse_av_frame()
            let code = gatehouse_av_decoder_receive(decoder, &frame)
            guard code != 0 else { return }
            guard code > 0 else {
                throw CodecError(codec: codec, operation: "decode", reason: Libav.words(for: code))
            }
            body(frame)
        }
    }
}

/// The parts that all codecs of libavcodec share.
enum Libav {
    /// Loads the libraries, once for the process.
    static func load(codec: String, operation: String) throws(CodecError) {
        guard let problem = gatehouse_av_load() else { return }
        throw CodecError(codec: codec, operation: operation, reason: String(cString: problem))
    }

    /// An error code of libavcodec in words.
    static func words(for code: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { text in
            guard let start = text.baseAddress else { return "error \(code)" }
            gatehouse_av_describe(code, start, text.count)
            return String(cString: start)
        }
    }
}
