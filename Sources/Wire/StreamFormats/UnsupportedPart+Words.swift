// The names of what is left out of a stream.

extension UnsupportedPart: CustomStringConvertible {
    /// The name of the part as people read it.
    public var description: String {
        switch self {
        case .encryptedPackets: "encrypted packets"
        case .another(.video): "another video"
        case .another(.sound): "another audio"
        case .furtherTracks(let kind): "further tracks of \(kind.words)"
        case .codec(let codec): codec.words
        case .namedCodec(let kind, let name): "\(kind.words) of the kind \(name)"
        case .numberedCodec(let kind, let number): "\(kind.words) of FLV's codec \(number)"
        }
    }
}

extension UnsupportedPart.Kind {
    fileprivate var words: String {
        switch self {
        case .video: "video"
        case .sound: "sound"
        }
    }
}

extension UnsupportedPart.Codec {
    fileprivate var words: String {
        switch self {
        case .mpeg2Video: "MPEG-2 video"
        case .mpeg4Visual: "MPEG-4 Visual"
        case .mpegAudio: "MPEG audio (MP2 or MP3)"
        case .latm: "AAC in LATM"
        case .ac3: "AC-3"
        case .eac3: "E-AC-3"
        case .mp3: "MP3"
        case .mp3At8kHz: "MP3 at 8 kHz"
        case .speex: "Speex"
        case .nellymoser: "Nellymoser"
        }
    }
}
