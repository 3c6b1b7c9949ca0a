import RTP
import SDP

/// Makes decoders for the sound of cameras and of talkers.
public enum SpeechDecoders {
    /// The names of the codecs that can be decoded, as `a=rtpmap` writes them.
    public static let names = [
        "opus", "PCMU", "PCMA", "G722", "L16", "mpeg4-generic", "MP4A-LATM", "G726-16", "G726-24", "G726-32", "G726-40",
    ]

    /// Makes the decoder for a codec as a session description names it.
    ///
    /// - Throws: ``CodecError`` where the codec cannot be decoded, its parameters make no sense, or a library is
    ///   missing.
    public static func make(for codec: MediaCodec) throws(CodecError) -> sending any AudioDecoder {
        let name = codec.name.lowercased()
        switch name {
        case "opus": return try OpusSpeechDecoder()
        case "pcmu": return try G711SpeechDecoder(.muLaw, sampleRate: codec.clockRate, channels: codec.channels)
        case "pcma": return try G711SpeechDecoder(.aLaw, sampleRate: codec.clockRate, channels: codec.channels)
        case "g722": return try G722SpeechDecoder(channels: codec.channels)
        case "l16":
            return try LinearSpeechDecoder(
                isBigEndian: true, sampleRate: codec.clockRate, channels: codec.channels)
        case "pcm":
            // Hikvision's name for samples in its processor's order, least significant byte first.
            return try LinearSpeechDecoder(
                isBigEndian: false, sampleRate: codec.clockRate, channels: codec.channels)
        case "mpeg4-generic": return try AACSpeechDecoder(codec)
        case "mp4a-latm": return try LATMSpeechDecoder(codec)
        default:
            guard let variant = G726(named: codec.name) else {
                throw CodecError(
                    codec: codec.name, operation: "make a decoder",
                    reason: "it is not one of \(names.joined(separator: ", "))")
            }
            return try G726SpeechDecoder(variant, sampleRate: codec.clockRate)
        }
    }

    /// Whether ``make(for:)`` knows the codec.
    public static func canDecode(_ codec: MediaCodec) -> Bool {
        codec.isNamed("PCM") || names.contains { codec.isNamed($0) } || G726(named: codec.name) != nil
    }
}
