/// A part of a stream that is left out, because it is not supported.
public enum UnsupportedPart: Hashable, Sendable {
    /// What a track holds.
    public enum Kind: Hashable, Sendable {
        /// Pictures.
        case video
        /// Sound.
        case sound

        init(isVideo: Bool) { self = isVideo ? .video : .sound }
    }

    /// A codec that is known and not supported.
    public enum Codec: Hashable, Sendable {
        /// MPEG-1 or MPEG-2 video (ISO/IEC 11172-2 and 13818-2).
        case mpeg2Video
        /// MPEG-4 Visual (ISO/IEC 14496-2).
        case mpeg4Visual
        /// Layers of MPEG audio (ISO/IEC 11172-3 and 13818-3).
        case mpegAudio
        /// AAC in LATM (ISO/IEC 14496-3).
        case latm
        /// AC-3 (ATSC A/52).
        case ac3
        /// E-AC-3 (ATSC A/52, annex E).
        case eac3
        /// MP3 in FLV.
        case mp3
        /// MP3 at 8 kHz, which has a number of its own in FLV.
        case mp3At8kHz
        /// Speex.
        case speex
        /// Nellymoser, at any rate.
        case nellymoser
    }

    /// The packets of a track of a transport stream are scrambled (ISO/IEC 13818-1, section 2.4.3.3).
    case encryptedPackets
    /// Another track of a kind of which the stream has one already.
    case another(Kind)
    /// Tracks besides the first, in messages that hold several (Enhanced RTMP 2).
    case furtherTracks(Kind)
    /// A codec that is known.
    case codec(Codec)
    /// A codec that the stream names in four letters, for example `av01`.
    case namedCodec(Kind, String)
    /// A codec that FLV has a number for (Adobe Flash Video File Format Specification 10.1, annex E.4).
    case numberedCodec(Kind, UInt8)
}
