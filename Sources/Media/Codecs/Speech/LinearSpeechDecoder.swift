/// Plain samples of 16 bits: L16 (RFC 3551, section 4.5.11), and the same with the least significant byte first.
final class LinearSpeechDecoder: AudioDecoder {
    private let isBigEndian: Bool
    private let sampleRate: Int
    private let channels: Int
    private var resampler: SpeechResampler

    init(isBigEndian: Bool, sampleRate: Int, channels: Int) throws(CodecError) {
        guard (1...8).contains(channels) else {
            throw CodecError(codec: "L16", operation: "make a decoder", reason: "\(channels) channels")
        }
        self.isBigEndian = isBigEndian
        self.sampleRate = sampleRate
        self.channels = channels
        resampler = try SpeechResampler(from: sampleRate, codec: "L16")
    }

    func decode(
        _ payload: UnsafeRawBufferPointer, _ output: (UnsafeBufferPointer<Int16>) -> Void
    ) throws(CodecError) {
        let (channels, isBigEndian) = (channels, isBigEndian)
        try resampler.convert(
            payload.count / (2 * channels), at: sampleRate,
            { index in
                var sum = 0
                for channel in 0..<channels {
                    let raw = payload.loadUnaligned(fromByteOffset: (index * channels + channel) * 2, as: Int16.self)
                    sum += Int(isBigEndian ? Int16(bigEndian: raw) : Int16(littleEndian: raw))
                }
                return Int16(truncatingIfNeeded: sum / channels)
            }, output)
    }
}
