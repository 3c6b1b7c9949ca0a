/// PCMU and PCMA (RFC 3551, section 4.5.14), also at rates other than 8 kHz.
final class G711SpeechDecoder: AudioDecoder {
    private let law: G711
    private let sampleRate: Int
    private let channels: Int
    private var resampler: SpeechResampler

    init(_ law: G711, sampleRate: Int, channels: Int) throws(CodecError) {
        let codec = law == .muLaw ? "PCMU" : "PCMA"
        guard (1...8).contains(channels) else {
            throw CodecError(codec: codec, operation: "make a decoder", reason: "\(channels) channels")
        }
        self.law = law
        self.sampleRate = sampleRate
        self.channels = channels
        resampler = try SpeechResampler(from: sampleRate, codec: codec)
    }

    func decode(
        _ payload: UnsafeRawBufferPointer, _ output: (UnsafeBufferPointer<Int16>) -> Void
    ) throws(CodecError) {
        let (law, channels) = (law, channels)
        try resampler.convert(
            payload.count / channels, at: sampleRate,
            { index in
                var sum = 0
                for channel in 0..<channels { sum += Int(law.decode(payload[index * channels + channel])) }
                return Int16(truncatingIfNeeded: sum / channels)
            }, output)
    }
}
