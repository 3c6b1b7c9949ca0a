/// What a file says about one track.
public struct MP4Track: Equatable, Sendable {
    /// The codecs that can be written.
    public enum Codec: Equatable, Sendable {
        /// VP8 (VP Codec ISO Media File Format Binding, `vp08`).
        case vp8(width: Int, height: Int)
        /// H.264 (ISO/IEC 14496-15, `avc1`) with its parameter sets, each a NAL unit without start code.
        case h264(width: Int, height: Int, sequenceParameterSets: [[UInt8]], pictureParameterSets: [[UInt8]])
        /// Opus (Encapsulation of Opus in ISO Base Media File Format, `Opus`). `preSkip` is the number of samples at
        /// 48 kHz that a decoder drops at the start; zero for a stream that is joined while it runs.
        case opus(channels: Int, preSkip: Int)
        /// G.711 µ-law (`ulaw`).
        case muLaw(channels: Int)
        /// G.711 A-law (`alaw`).
        case aLaw(channels: Int)
    }

    /// The codec and what belongs to it.
    public var codec: Codec
    /// How many units of time make a second: the RTP clock rate, so that RTP timestamps need no conversion.
    public var timescale: Int

    /// Describes a track.
    public init(codec: Codec, timescale: Int) {
        self.codec = codec
        self.timescale = timescale
    }

    /// Whether the track holds pictures.
    public var isVideo: Bool {
        switch codec {
        case .vp8, .h264: true
        case .opus, .muLaw, .aLaw: false
        }
    }

    /// The picture's size in pixels; zero for sound.
    var size: (width: Int, height: Int) {
        switch codec {
        case .vp8(let width, let height), .h264(let width, let height, _, _): (width, height)
        case .opus, .muLaw, .aLaw: (0, 0)
        }
    }

    /// Why the description cannot be written; nil when it can.
    var problem: String? {
        guard timescale > 0, timescale <= Int(UInt32.max) else { return "the timescale \(timescale) is out of range" }
        switch codec {
        case .vp8(let width, let height):
            return Self.sizeProblem(width, height)
        case .h264(let width, let height, let sequence, let picture):
            if let problem = Self.sizeProblem(width, height) { return problem }
            guard let first = sequence.first, first.count >= 4, sequence.count <= 31 else {
                return "H.264 needs one to 31 sequence parameter sets of at least four bytes"
            }
            guard !picture.isEmpty, picture.count <= 255 else { return "H.264 needs one to 255 picture parameter sets" }
            guard (sequence + picture).allSatisfy({ !$0.isEmpty && $0.count <= 0xFFFF }) else {
                return "a parameter set is empty or longer than 65,535 bytes"
            }
            return nil
        case .opus(let channels, let preSkip):
            guard (0...0xFFFF).contains(preSkip) else { return "a pre-skip of \(preSkip) is out of range" }
            return Self.channelProblem(channels)
        case .muLaw(let channels), .aLaw(let channels):
            return Self.channelProblem(channels)
        }
    }

    private static func sizeProblem(_ width: Int, _ height: Int) -> String? {
        (1...0xFFFF).contains(width) && (1...0xFFFF).contains(height) ? nil : "\(width) × \(height) is no picture size"
    }

    private static func channelProblem(_ channels: Int) -> String? {
        (1...2).contains(channels) ? nil : "\(channels) channels are not supported, one or two are"
    }
}
