import CAVCodec

/// A decoder of libavcodec, which is loaded when the first one is made.
///
/// It works in the calling thread alone and without hardware; what it may hold is bounded, whatever the stream asks for.
struct LibavDecoder: ~Copyable {
    /// What the decoder is told before the first frame.
    struct Options {
        /// The decoder's name in libavcodec.
        var name: String
        /// The codec's name in errors.
        var codec: String
        /// The configuration record of the codec.
        var extradata: [UInt8] = []
        /// Sound: the rate in hertz that the description names; 0 where the stream says it.
        var sampleRate = 0
        /// Sound: the number of channels.
        var channels = 1
        /// ADPCM: the bits of a code word.
        var bitsPerCodedSample = 0
        /// The largest picture: 16 megapixels are what the largest cameras send.
        var maximumPixels = 1 << 24
        /// The most memory for pictures that are held for reference.
        var maximumBytes = 256 << 20
    }

    /// A coded frame that is longer is refused, in bytes.
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

    /// Takes in one coded frame and hands what comes out to `body`; the memory of a frame lives until `body` returns.
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

    /// Hands out what the decoder still holds back, and starts anew.
    mutating func finish(_ body: (borrowing gatehouse_av_frame) -> Void) throws(CodecError) {
        gatehouse_av_decoder_send(decoder, nil, 0, 0)
        defer { gatehouse_av_decoder_flush(decoder) }
        try receive(body)
    }

    /// Forgets what was taken in.
    mutating func flush() {
        gatehouse_av_decoder_flush(decoder)
    }

    private func receive(_ body: (borrowing gatehouse_av_frame) -> Void) throws(CodecError) {
        // One coded frame brings a few at most; the bound is against a decoder that would not end.
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

/// What all codecs of libavcodec share.
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
