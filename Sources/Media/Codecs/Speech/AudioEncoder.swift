import SDP

/// Turns samples at 48 kHz on one channel into RTP payloads of a codec, ready to send.
///
/// An encoder belongs to one thread at a time.
public protocol AudioEncoder: AnyObject {
    /// The RTP clock's rate in hertz.
    var clockRate: Int { get }

    /// The duration of one packet's sound, in ticks of the RTP clock.
    var ticksPerPacket: Int { get }

    /// Adds any number of samples and hands each full payload to `packet`, with the advance of the RTP clock. The
    /// payload's memory is valid until `packet` returns.
    func encode(
        _ samples: UnsafeBufferPointer<Int16>,
        _ packet: (_ payload: UnsafeRawBufferPointer, _ durationInClockTicks: Int) -> Void
    ) throws(CodecError)
}

/// Makes encoders for a camera's speaker.
public enum SpeechEncoders {
    /// The names of the codecs that can be encoded, as `a=rtpmap` writes them.
    public static let names = [
        "mpeg4-generic", "L16", "opus", "PCMU", "PCMA", "G726-16", "G726-24", "G726-32", "G726-40",
    ]

    /// Makes the encoder for a codec as a camera's session description names it.
    ///
    /// - Parameter speechBitRate: the bit rate of Opus and AAC, in bits per second.
    /// - Throws: ``CodecError`` where the codec cannot be encoded, its parameters make no sense, or a library is
    ///   missing.
    public static func make(
        for codec: MediaCodec, speechBitRate: Int = 32_000
    ) throws(CodecError) -> sending any AudioEncoder {
        switch codec.name.lowercased() {
        case "opus": return try OpusSpeechEncoder(bitsPerSecond: speechBitRate)
        case "pcmu": return try SampleSpeechEncoder(.g711(.muLaw), codec)
        case "pcma": return try SampleSpeechEncoder(.g711(.aLaw), codec)
        case "l16": return try SampleSpeechEncoder(.linear(isBigEndian: true), codec)
        case "pcm": return try SampleSpeechEncoder(.linear(isBigEndian: false), codec)
        case "mpeg4-generic": return try AACSpeechEncoder(codec, bitsPerSecond: speechBitRate)
        default:
            guard let variant = G726(named: codec.name) else {
                throw CodecError(
                    codec: codec.name, operation: "make an encoder",
                    reason: "it is not one of \(names.joined(separator: ", "))")
            }
            return try G726SpeechEncoder(variant, sampleRate: codec.clockRate)
        }
    }
}
