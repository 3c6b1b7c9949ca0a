import RTP

/// What a file says about one track.
public struct MP4Track: Equatable, Sendable {
    /// The codecs that can be written.
    public enum Codec: Equatable, Sendable {
        /// VP8 (VP Codec ISO Media File Format Binding, `vp08`).
        case vp8(width: Int, height: Int)
        /// H.264 (ISO/IEC 14496-15, `avc1`) with its parameter sets, each a NAL unit without start code.
        case h264(width: Int, height: Int, sequenceParameterSets: [[UInt8]], pictureParameterSets: [[UInt8]])
        /// H.265 (ISO/IEC 14496-15, `hvc1`) with its parameter sets, each a NAL unit without start code.
        case h265(
            width: Int, height: Int, videoParameterSets: [[UInt8]], sequenceParameterSets: [[UInt8]],
            pictureParameterSets: [[UInt8]])
        /// VP9 (VP Codec ISO Media File Format Binding, `vp09`), as a key frame describes it.
        case vp9(VP9.FrameHeader)
        /// AV1 (AV1 Codec ISO Media File Format Binding, `av01`) with its sequence header, and the unit that holds it.
        case av1(AV1.SequenceHeader, unit: [UInt8])
        /// Opus (Encapsulation of Opus in ISO Base Media File Format, `Opus`). `preSkip` is the number of samples at
        /// 48 kHz that a decoder drops at the start; zero for a stream that is joined while it runs.
        case opus(channels: Int, preSkip: Int)
        /// G.711 µ-law (`ulaw`).
        case muLaw(channels: Int)
        /// G.711 A-law (`alaw`).
        case aLaw(channels: Int)
        /// AAC (ISO/IEC 14496-14, `mp4a`) with its AudioSpecificConfig.
        case aac(channels: Int, sampleRate: Int, audioSpecificConfig: [UInt8])
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
        case .vp8, .vp9, .h264, .h265, .av1: true
        case .opus, .muLaw, .aLaw, .aac: false
        }
    }

    /// The picture's size in pixels; zero for sound.
    var size: (width: Int, height: Int) {
        switch codec {
        case .vp8(let width, let height), .h264(let width, let height, _, _), .h265(let width, let height, _, _, _):
            (width, height)
        case .vp9(let header): (header.width, header.height)
        case .av1(let header, _): (header.width, header.height)
        case .opus, .muLaw, .aLaw, .aac: (0, 0)
        }
    }

    /// Why the description cannot be written; nil when it can.
    var fault: MP4Error.TrackFault? {
        guard timescale > 0, timescale <= Int(UInt32.max) else { return .timescale(timescale) }
        if isVideo, !(1...0xFFFF).contains(size.width) || !(1...0xFFFF).contains(size.height) {
            return .pictureSize(width: size.width, height: size.height)
        }
        switch codec {
        case .vp8, .vp9: return nil
        case .av1(_, let unit):
            return (2...0xFFFF).contains(unit.count) ? nil : .sequenceHeader(byteCount: unit.count)
        case .h265(_, _, let video, let sequence, let picture):
            let sets = [video, sequence, picture]
            guard sets.allSatisfy({ (1...0xFF).contains($0.count) }), (sequence.first?.count ?? 0) > 15 else {
                return .h265ParameterSets
            }
            return Self.fault(inSets: sets.flatMap { $0 })
        case .h264(_, _, let sequence, let picture):
            guard let first = sequence.first, first.count >= 4, sequence.count <= 31 else {
                return .h264SequenceParameterSets
            }
            guard !picture.isEmpty, picture.count <= 255 else { return .h264PictureParameterSets }
            return Self.fault(inSets: sequence + picture)
        case .opus(let channels, let preSkip):
            guard (0...0xFFFF).contains(preSkip) else { return .preSkip(preSkip) }
            return Self.fault(inChannels: channels, limit: 2)
        case .muLaw(let channels), .aLaw(let channels):
            return Self.fault(inChannels: channels, limit: 2)
        case .aac(let channels, let sampleRate, let configuration):
            guard (2...64).contains(configuration.count), (1...0xFFFF_FFFF).contains(sampleRate) else {
                return .audioSpecificConfig
            }
            return Self.fault(inChannels: channels, limit: 8)
        }
    }

    private static func fault(inSets sets: [[UInt8]]) -> MP4Error.TrackFault? {
        sets.allSatisfy { !$0.isEmpty && $0.count <= 0xFFFF } ? nil : .parameterSetLength
    }

    private static func fault(inChannels channels: Int, limit: Int) -> MP4Error.TrackFault? {
        (1...limit).contains(channels) ? nil : .channels(channels, limit: limit)
    }
}
