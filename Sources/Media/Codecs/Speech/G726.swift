/// Adaptive differential PCM of ITU-T G.726 at 8 kHz, as RTP carries it (RFC 3551, section 4.5.4).
public struct G726: Hashable, Sendable {
    /// The bits of a code word: 2 for 16 kbit/s to 5 for 40 kbit/s.
    public var bitsPerSample: Int
    /// Whether the first code word is in an octet's most significant bits, as in ATM's AAL2 and under the names
    /// `AAL2-G726-…`. Otherwise it is in the least significant ones, as in RFC 3551.
    public var isMostSignificantFirst: Bool

    /// Reads a name of `a=rtpmap`, for example `G726-32` or `AAL2-G726-32`; nil for any other.
    public init?(named name: String) {
        let name = name.uppercased()
        isMostSignificantFirst = name.hasPrefix("AAL2-")
        switch isMostSignificantFirst ? String(name.dropFirst(5)) : name {
        case "G726-16": bitsPerSample = 2
        case "G726-24": bitsPerSample = 3
        // The static payload type 2 was G721, which is the same codec at this rate.
        case "G726-32", "G721": bitsPerSample = 4
        case "G726-40": bitsPerSample = 5
        default: return nil
        }
    }

    /// The name as `a=rtpmap` writes it.
    public var name: String { (isMostSignificantFirst ? "AAL2-" : "") + "G726-\(bitsPerSample * 8)" }

    /// libavcodec's name for the order of bits.
    var libavName: String { isMostSignificantFirst ? "g726" : "g726le" }
}

/// G.726 by libavcodec.
final class G726SpeechDecoder: AudioDecoder {
    private let decoder: LibavSpeechDecoder

    init(_ variant: G726, sampleRate: Int) throws(CodecError) {
        decoder = try LibavSpeechDecoder(
            .init(
                name: variant.libavName, codec: variant.name, sampleRate: sampleRate,
                bitsPerCodedSample: variant.bitsPerSample))
    }

    func decode(
        _ payload: UnsafeRawBufferPointer, _ output: (UnsafeBufferPointer<Int16>) -> Void
    ) throws(CodecError) {
        try decoder.decode(payload, output)
    }
}
