import Cameras
import FragmentedMP4
import PushAvStreamTransport
import RTP
import SDP
import Transport

/// How recorded samples travel by RTP.
enum FootageCodec: String {
    case h264 = "H264"
    case h265 = "H265"
    case vp8 = "VP8"
    case vp9 = "VP9"
    case av1 = "AV1"
    case aac = "mpeg4-generic"
    case opus

    /// The codec of a track; nil when the server has no payload format for it.
    init?(_ track: MP4Header.Track) {
        switch track.format {
        case "avc1", "avc3": self = .h264
        case "hvc1", "hev1": self = .h265
        case "vp08": self = .vp8
        case "vp09": self = .vp9
        case "av01": self = .av1
        case "mp4a": self = .aac
        case "Opus": self = .opus
        default: return nil
        }
    }

    /// The RTP clock rate of a track.
    func clockRate(_ track: MP4Header.Track) -> Int {
        switch self {
        case .h264, .h265, .vp8, .vp9, .av1: 90_000
        case .opus: 48_000
        // RFC 3640, section 4.1: that of the sound.
        case .aac: track.audioSpecificConfig.flatMap { AudioSpecificConfig(parsing: $0) }?.sampleRate ?? 48_000
        }
    }

    /// What a session description says about a track.
    func describe(_ track: MP4Header.Track) -> TrackDescription {
        var codec = MediaCodec(name: rawValue, clockRate: clockRate(track))
        var parameters: [(String, String)] = []
        switch self {
        case .h264:
            let sets = Self.units(track)
            if let profile = sets.first(where: { $0[0] & 0x1F == 7 && $0.count >= 4 })?[1...3] {
                parameters.append(("profile-level-id", profile.map(Self.hexadecimal).joined()))
            }
            if !sets.isEmpty {
                parameters.append(("sprop-parameter-sets", sets.map { Base64.encode($0) }.joined(separator: ",")))
            }
        case .h265:
            let sets = Self.units(track)
            for (name, type) in [("sprop-vps", 32), ("sprop-sps", 33), ("sprop-pps", 34)] {
                let ofType = sets.filter { Int(H265.type($0[0])) == type }
                if !ofType.isEmpty {
                    parameters.append((name, ofType.map { Base64.encode($0) }.joined(separator: ",")))
                }
            }
        case .aac:
            codec.channels =
                track.audioSpecificConfig.flatMap { AudioSpecificConfig(parsing: $0) }?.channels ?? track.channels
            parameters = [
                ("streamtype", "5"), ("profile-level-id", "1"), ("mode", "AAC-hbr"), ("sizelength", "13"),
                ("indexlength", "3"), ("indexdeltalength", "3"),
                ("config", (track.audioSpecificConfig ?? []).map(Self.hexadecimal).joined()),
            ]
        // RFC 7587, section 7: always two channels, whatever the packets hold.
        case .opus:
            codec.channels = 2
            parameters = [("sprop-stereo", track.channels > 1 ? "1" : "0")]
        case .vp8, .vp9, .av1: break
        }
        codec.formatParameters = FormatParameters(parameters.map { .init(name: $0.0, value: $0.1) })
        return TrackDescription(kind: track.isVideo ? .video : .audio, codec: codec, payloadType: 0)
    }

    /// Whether samples of another track may follow those of this one. Pictures carry what their decoder needs in every
    /// key frame; AAC's configuration is only in the description.
    static func mayFollow(_ other: MP4Header.Track, after track: MP4Header.Track) -> Bool {
        guard let codec = FootageCodec(track), FootageCodec(other) == codec else { return false }
        return codec != .aac || other.audioSpecificConfig == track.audioSpecificConfig
    }

    /// Whether other pictures may need a sample. Of H.264 and H.265 its slices say so; the other codecs have no pictures
    /// between two others.
    func isReferenced(_ sample: [UInt8], _ track: MP4Header.Track) -> Bool {
        guard self == .h264 || self == .h265 else { return true }
        let highest = self == .h265 ? Self.highestTemporalLayer(track) : 0
        return sample.withUnsafeBytes { raw in
            var reader = ByteReader(raw)
            while reader.remaining > 0 {
                // What cannot be read is not left out.
                guard let length: UInt32 = reader.read(), let unit = reader.readBytes(Int(length)), unit.count > 1
                else { return true }
                if self == .h264 {
                    if [1, 2, 5].contains(unit[0] & 0x1F), H264.isReferenced(unit) { return true }
                } else if H265.type(unit[0]) < 32,
                    H265.isReferenced(
                        type: H265.type(unit[0]), temporalLayer: H265.temporalLayer(unit[1]), highest: highest)
                {
                    return true
                }
            }
            return false
        }
    }

    /// The highest temporal layer that a stream of H.265 may have, as its sequence parameter set says (ITU-T H.265,
    /// section 7.3.2.2.1: `sps_max_sub_layers_minus1`); the highest of all where it is not known.
    private static func highestTemporalLayer(_ track: MP4Header.Track) -> UInt8 {
        let set = units(track).first { $0.count > 2 && H265.type($0[0]) == 33 }
        return set.map { $0[2] >> 1 & 7 } ?? 6
    }

    private static func units(_ track: MP4Header.Track) -> [[UInt8]] {
        (track.parameterSets ?? []).withUnsafeBytes { AnnexBUnits($0).map(Array.init) }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let text = String(byte, radix: 16)
        return byte < 16 ? "0" + text : text
    }
}
