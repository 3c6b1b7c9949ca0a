/// G.722 at 64 kbit/s by libavcodec: 16 kHz of sound, of which the RTP clock counts half (RFC 3551, section 4.5.2).
final class G722SpeechDecoder: AudioDecoder {
    private let decoder: LibavSpeechDecoder

    init(channels: Int) throws(CodecError) {
        guard channels == 1 else {
            throw CodecError(
                codec: "G722", operation: "make a decoder", reason: "it has one channel, not \(channels)")
        }
        decoder = try LibavSpeechDecoder(.init(name: "g722", codec: "G722", sampleRate: 16_000))
    }

    func decode(
        _ payload: UnsafeRawBufferPointer, _ output: (UnsafeBufferPointer<Int16>) -> Void
    ) throws(CodecError) {
        try decoder.decode(payload, output)
    }
}
