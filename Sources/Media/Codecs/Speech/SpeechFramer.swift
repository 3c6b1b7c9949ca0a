/// Converts sound at 48 kHz to another rate and cuts it into frames of one length.
struct SpeechFramer {
    /// Samples in a frame.
    let frameLength: Int
    private var converter: SampleRateConverter
    private var waiting: [Int16] = []

    init(to sampleRate: Int, frameLength: Int, codec: String) throws(CodecError) {
        guard (4000...96_000).contains(sampleRate), frameLength > 0,
            let converter = SampleRateConverter(from: 48_000, to: sampleRate)
        else {
            throw CodecError(
                codec: codec, operation: "make an encoder",
                reason: "a rate of \(sampleRate) Hz is not between 4 and 96 kHz")
        }
        self.converter = converter
        self.frameLength = frameLength
    }

    /// Adds samples and hands each full frame to `body`.
    mutating func append(
        _ samples: UnsafeBufferPointer<Int16>, _ body: (UnsafeBufferPointer<Int16>) throws(CodecError) -> Void
    ) throws(CodecError) {
        converter.convert(samples, appendingTo: &waiting)
        var offset = 0
        // Samples that were handed out are treated as used even where encoding fails.
        defer { waiting.removeFirst(min(offset, waiting.count)) }
        while waiting.count - offset >= frameLength {
            let start = offset
            offset += frameLength
            try waiting.withUnsafeBufferPointer { waiting throws(CodecError) in
                try body(UnsafeBufferPointer(rebasing: waiting[start..<start + frameLength]))
            }
        }
    }
}
