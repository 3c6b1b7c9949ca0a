import Codecs
import Intake
import RTP
import SDP
import StreamFormats

extension StreamTrack.Codec {
    /// The codec as a session description would name it.
    private var mediaCodec: MediaCodec? {
        switch self {
        case .h264(let sets):
            var parameters: [FormatParameters.Parameter] = [.init(name: "packetization-mode", value: "1")]
            if let level = H264ParameterSets.profileLevel(sets) {
                parameters.append(.init(name: "profile-level-id", value: level))
            }
            return MediaCodec(name: "H264", clockRate: 90_000, formatParameters: FormatParameters(parameters))
        case .h265(let sets):
            let parameters = sets.isEmpty ? [] : H265ParameterSets(sets).profileParameters
            return MediaCodec(name: "H265", clockRate: 90_000, formatParameters: FormatParameters(parameters))
        case .aac(let bytes):
            guard let config = AudioSpecificConfig(parsing: bytes) else { return nil }
            let digits = bytes.map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
            // RFC 3640, section 3.3.6.
            return MediaCodec(
                name: "mpeg4-generic", clockRate: config.sampleRate, channels: config.channels,
                formatParameters: FormatParameters([
                    .init(name: "streamtype", value: "5"), .init(name: "mode", value: "AAC-hbr"),
                    .init(name: "config", value: digits), .init(name: "sizelength", value: "13"),
                    .init(name: "indexlength", value: "3"), .init(name: "indexdeltalength", value: "3"),
                ]))
        case .pcmu(let channels): return MediaCodec(name: "PCMU", clockRate: 8000, channels: channels)
        case .pcma(let channels): return MediaCodec(name: "PCMA", clockRate: 8000, channels: channels)
        case .opus: return MediaCodec(name: "opus", clockRate: Opus.clockRate, channels: 2)
        }
    }

    private var parameterSets: [[UInt8]] {
        switch self {
        case .h264(let sets), .h265(let sets): sets
        case .aac, .pcmu, .pcma, .opus: []
        }
    }

    /// The track as an RTSP camera's would be described; nil where its codec is described wrongly.
    func described(payloadType: UInt8) -> CameraDescription.Track? {
        guard let codec = mediaCodec, let format = IncomingTrack.Format(codec) else { return nil }
        return CameraDescription.Track(
            description: TrackDescription(kind: isVideo ? .video : .audio, codec: codec, payloadType: payloadType),
            format: format, controlURI: "", parameterSets: parameterSets)
    }

    /// How long a unit of sound lasts, in ticks of its RTP clock.
    func duration(of bytes: [UInt8]) -> Int {
        switch self {
        case .h264, .h265: 0
        case .aac(let config): AudioSpecificConfig(parsing: config)?.frameLength ?? 1024
        case .pcmu(let channels), .pcma(let channels): bytes.count / max(1, channels)
        case .opus: bytes.withUnsafeBytes { Opus.TableOfContents(parsing: $0)?.sampleCount } ?? 960
        }
    }
}

extension [StreamTrack] {
    /// The tracks as an RTSP camera's would be described, video first, with their positions here. One whose codec is described
    /// wrongly is left out.
    var described: [(index: Int, track: CameraDescription.Track)] {
        let order = indices.filter { self[$0].codec.isVideo } + indices.filter { !self[$0].codec.isVideo }
        var described: [(index: Int, track: CameraDescription.Track)] = []
        for index in order {
            guard let track = self[index].codec.described(payloadType: UInt8(96 + described.count)) else { continue }
            described.append((index, track))
        }
        return described
    }
}
