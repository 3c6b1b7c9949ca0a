import Intake
import SDP

/// What the gateway uses from a camera's session description, and why it leaves out the rest. It is made from the
/// session description alone, so `gatehouse sdp` reports what the RTSP client does by using the same value.
public struct CameraOffering: Sendable {
    /// How one `m=` line is used.
    public enum Verdict: Sendable, Hashable {
        /// It is pulled: the track of this position in ``CameraOffering/tracks``.
        case pulled(Int)
        /// It is the camera's speaker, which accepts these codecs.
        case speaker([RTPPayload])
        /// It is left out.
        case left(Reason)
    }

    /// Why an `m=` line is left out.
    public enum Reason: Sendable, Hashable {
        /// It carries neither video nor audio.
        case otherKind
        /// Its packets are encrypted by keys in the description (RFC 4568).
        case encrypted
        /// None of these codecs is of use.
        case noCodec([MediaCodec])
        /// Only one video track and two audio tracks are pulled, and others come first.
        case surplus
    }

    /// One track that is pulled.
    struct Track: Sendable {
        /// The position of its `m=` line, from 0.
        var mediaIndex: Int
        /// The description that is announced to the sink.
        var description: TrackDescription
        /// What the packets hold.
        var format: IncomingTrack.Format
        /// The control attribute as written; nil where the camera names none.
        var control: String?
        /// The parameter sets of H.264 or H.265 in the description, without start codes.
        var parameterSets: [[UInt8]]
        /// Whether the payload type was guessed, so that the first packet's type counts instead.
        var hasUncertainPayloadType: Bool
    }

    /// How each `m=` line is used.
    public private(set) var verdicts: [Verdict]
    /// The pulled tracks: at most one of video and two of audio, video first, and codecs that most viewers accept
    /// before the rest.
    private(set) var pulled: [Track] = []
    /// The kind of each `m=` line.
    private let kinds: [MediaKind]

    /// The descriptions of the tracks that are pulled.
    public var tracks: [TrackDescription] { pulled.map(\.description) }

    /// The position of the `m=` line of each track that is pulled.
    public var mediaIndices: [Int] { pulled.map(\.mediaIndex) }

    /// Whether the camera describes a speaker.
    public var hasSpeaker: Bool {
        verdicts.contains { if case .speaker = $0 { true } else { false } }
    }

    /// Reads a camera's session description.
    public init(_ session: SessionDescription) {
        kinds = session.media.map(\.kind)
        let described = session.cameraTracks
        var candidates: [Track] = []
        verdicts = session.media.enumerated().map { index, media in
            guard media.kind == .video || media.kind == .audio else { return .left(.otherKind) }
            let track = described.first { $0.index == index }
            if let track, track.role == .speaker { return .speaker(track.payloads) }
            guard media.values(of: "crypto").isEmpty else { return .left(.encrypted) }
            guard let candidate = track.flatMap({ Track($0, media) }) else {
                return .left(.noCodec(media.payloads.map(\.codec)))
            }
            candidates.append(candidate)
            return .left(.surplus)
        }
        for (kind, count) in [(MediaKind.video, 1), (.audio, 2)] {
            let ranked = candidates.filter { $0.description.kind == kind }.sorted {
                ($0.rank, $0.mediaIndex) < ($1.rank, $1.mediaIndex)
            }
            for track in ranked.prefix(count) {
                verdicts[track.mediaIndex] = .pulled(pulled.count)
                pulled.append(track)
            }
        }
    }

    /// Why nothing of the camera can be played; nil where something can be.
    public var refusal: CameraFailure? { pulled.isEmpty ? .nothingToPlay(notes: notes) : nil }

    /// What is not pulled, and why.
    public var notes: [CameraNote] {
        zip(kinds, verdicts).enumerated().compactMap { index, media -> CameraNote? in
            let (kind, verdict) = media
            return switch verdict {
            case .pulled: nil
            case .speaker: .backChannel(kind, mediaIndex: index)
            case .left(let reason): .notPulled(kind, mediaIndex: index, reason)
            }
        }
    }
}

extension CameraOffering.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .otherKind: "is neither video nor audio"
        case .encrypted: "is encrypted (SRTP), which is not supported: leave \"enableSrtp\" out of the address"
        case .noCodec(let codecs): "has no supported codec (\(Self.names(codecs)))"
        case .surplus: "is left out: at most one video and two audio tracks are pulled"
        }
    }

    private static func names(_ codecs: [MediaCodec]) -> String {
        codecs.isEmpty ? "none named" : codecs.map { $0.clockFault ?? $0.name }.joined(separator: ", ")
    }
}

extension CameraOffering.Track {
    /// The first payload type of a track that can be used; nil where none can.
    fileprivate init?(_ track: CameraTrack, _ media: MediaDescription) {
        for payload in track.payloads {
            let codec = payload.codec.mended
            guard codec.isPullable, codec.isVideo == (track.kind == .video), let format = IncomingTrack.Format(codec)
            else { continue }
            // If no `a=rtpmap` names the payload type, the camera's packets show which one it means.
            let isMapped = media.values(of: "rtpmap").contains { value in
                value.split(separator: " ").first.map { UInt8($0) == payload.payloadType } ?? false
            }
            self.init(
                mediaIndex: track.index,
                description: TrackDescription(kind: track.kind, codec: codec, payloadType: payload.payloadType),
                format: format, control: track.control, parameterSets: [],
                hasUncertainPayloadType: !isMapped && payload.payloadType >= 96)
            learnParameterSets()
            return
        }
        return nil
    }

    /// Reads the parameter sets from the session description, and the profile from them where it is not stated.
    private mutating func learnParameterSets() {
        var codec = description.codec
        let sets = codec.describedParameterSets
        if codec.isNamed("H264") {
            if codec.formatParameters["profile-level-id"] == nil, let level = H264ParameterSets.profileLevel(sets) {
                codec.formatParameters.parameters.append(.init(name: "profile-level-id", value: level))
            }
        }
        if codec.isNamed("H265") {
            if codec.formatParameters["profile-id"] == nil {
                codec.formatParameters.parameters += H265ParameterSets(sets).profileParameters
            }
        }
        description.codec = codec
        parameterSets = Array(sets.prefix(8))
    }

    /// Codecs that most viewers can play come first.
    fileprivate var rank: Int { description.codec.passThroughRank ?? 100 }
}

extension MediaCodec {
    /// Whether viewers can be sent something of this codec.
    fileprivate var isPullable: Bool {
        if isVideo { return clockRate == 90_000 }
        return isTranscodableSound && (4000...192_000).contains(clockRate) && (1...8).contains(channels)
    }

    /// A codec that would be of use, with the clock or the channels that make it useless; nil for others.
    fileprivate var clockFault: String? {
        let codec = mended
        guard !codec.isPullable else { return nil }
        if codec.isVideo { return "\(codec.mapping), where video needs a clock rate of 90000" }
        guard codec.isTranscodableSound else { return nil }
        return (4000...192_000).contains(codec.clockRate)
            ? "\(codec.mapping), where at most 8 channels are supported"
            : "\(codec.mapping), where a clock rate from 4000 to 192000 is supported"
    }

    /// The codec with cameras' mistakes corrected: Opus is always `opus/48000/2` (RFC 7587, section 7), whatever the
    /// encoder's input was.
    fileprivate var mended: MediaCodec {
        var codec = self
        // The clock of G.722 is 8 kHz though its sound has 16 kHz (RFC 3551, section 4.5.2).
        if isNamed("G722") { codec.clockRate = 8000 }
        guard isNamed("opus") else { return codec }
        codec.clockRate = 48_000
        codec.channels = 2
        return codec
    }
}
