/// Opus (RFC 7587): one packet is one payload. The codec itself mixes two channels.
final class OpusSpeechDecoder: AudioDecoder {
    private var decoder: OpusDecoder
    private var samples = [Int16](repeating: 0, count: OpusDecoder.maximumSamplesPerPacket)

    init() throws(CodecError) {
        decoder = try OpusDecoder(channels: 1)
    }

    func decode(
        _ payload: UnsafeRawBufferPointer, _ output: (UnsafeBufferPointer<Int16>) -> Void
    ) throws(CodecError) {
        try samples.withUnsafeMutableBufferPointer { samples throws(CodecError) in
            let count = try decoder.decode(payload, into: samples)
            output(UnsafeBufferPointer(rebasing: samples[..<count]))
        }
    }
}
