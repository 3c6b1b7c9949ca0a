import RTSP
import SDP

/// What an RTSP camera's description offers, reduced to the tracks that are worth pulling.
struct CameraDescription: Sendable {
    /// One track to pull.
    struct Track: Sendable {
        /// What is announced.
        var description: TrackDescription
        /// What the packets hold: a codec for which there is no format is not pulled.
        var format: IncomingTrack.Format
        /// The absolute URI for SETUP.
        var controlURI: String
        /// The parameter sets of H.264 or H.265 in the description, without start codes.
        var parameterSets: [[UInt8]] = []
        /// Whether the payload type was found by guessing, so that the first packet's is believed instead.
        var hasUncertainPayloadType = false
    }

    /// The tracks: at most one of video and two of audio, video first, and what most viewers take before the rest.
    var tracks: [Track] = []
    /// The URI for PLAY and TEARDOWN.
    var presentationURI: String
    /// In words, what is not pulled and why.
    var notes: [String] = []
    /// The camera's speaker, where it describes one.
    var backChannel: BackChannelDescription?

    /// Reads a description. `address` is where it came from and `baseURI` what its control attributes are relative to.
    init(parsing text: String, baseURI: String, address: RTSPURL) throws(SDPError) {
        let session = try SessionDescription(parsing: text)
        // The session's control attribute names the presentation; without one it is the base.
        presentationURI = address.controlURI(session.control, base: baseURI)
        backChannel = BackChannelDescription(in: session, baseURI: baseURI, address: address)
        var candidates: [(label: String, track: Track)] = []
        for (index, media) in session.media.enumerated() {
            let label = "\(media.kind.name) (m-line \(index + 1))"
            guard media.kind == .video || media.kind == .audio else {
                notes.append("\(label) is neither video nor audio")
                continue
            }
            if Self.isBackChannel(media, of: session) {
                notes.append("\(label) is a back channel")
                continue
            }
            guard media.values(of: "crypto").isEmpty else {
                notes.append(
                    "\(label) is encrypted (SRTP), which is not supported: leave \"enableSrtp\" out of the address")
                continue
            }
            guard var track = Self.track(media, of: session) else {
                let names = media.payloads.map(\.codec.name).joined(separator: ", ")
                notes.append("\(label) has no supported codec (\(names.isEmpty ? "none named" : names))")
                continue
            }
            // A single media description without a control attribute is controlled by the presentation's URI
            // (RFC 2326, appendix C.3).
            track.controlURI = address.controlURI(media.control, base: baseURI)
            candidates.append((label, track))
        }
        for (kind, count) in [(MediaKind.video, 1), (.audio, 2)] {
            let ranked = candidates.filter { $0.track.description.kind == kind }.enumerated().sorted {
                ($0.element.track.rank, $0.offset) < ($1.element.track.rank, $1.offset)
            }.map(\.element)
            tracks += ranked.prefix(count).map(\.track)
            for candidate in ranked.dropFirst(count) {
                notes.append(
                    "\(candidate.label) is left out: at most one video and two audio tracks are pulled")
            }
        }
    }

    /// Audio that the camera wants to receive: `a=sendonly`, seen from the client (ONVIF streaming, section 5.3). Some
    /// cameras write it on everything that they send themselves, so it counts only beside media without it.
    private static func isBackChannel(_ media: MediaDescription, of session: SessionDescription) -> Bool {
        media.kind == .audio && media.ownDirection == .sendonly
            && session.media.contains { $0.ownDirection != .sendonly }
    }

    private static func track(_ media: MediaDescription, of session: SessionDescription) -> Track? {
        for payload in media.payloads {
            var codec = payload.codec
            codec.normalize()
            guard codec.isPullable, codec.isVideo == (media.kind == .video),
                let format = IncomingTrack.Format(codec)
            else { continue }
            var sets: [[UInt8]] = []
            if codec.isNamed("H264") {
                if codec.formatParameters.parameters.isEmpty {
                    codec.formatParameters = strayFormatParameters(payload.payloadType, in: session)
                }
                sets = codec.formatParameters.parameterSets.filter { $0.count <= 1024 }
                if codec.formatParameters["profile-level-id"] == nil, let level = H264ParameterSets.profileLevel(sets) {
                    codec.formatParameters.parameters.append(.init(name: "profile-level-id", value: level))
                }
            }
            if codec.isNamed("H265") {
                sets = codec.formatParameters.h265ParameterSets.filter { $0.count <= 1024 }
                if codec.formatParameters["profile-id"] == nil {
                    codec.formatParameters.parameters += H265ParameterSets(sets).profileParameters
                }
            }
            // Where no map names the payload type, the camera's packets say which one it means.
            let isMapped = media.values(of: "rtpmap").contains { value in
                value.split(separator: " ").first.map { UInt8($0) == payload.payloadType } ?? false
            }
            return Track(
                description: TrackDescription(kind: media.kind, codec: codec, payloadType: payload.payloadType),
                format: format, controlURI: "", parameterSets: Array(sets.prefix(8)),
                hasUncertainPayloadType: !isMapped && payload.payloadType >= 96)
        }
        return nil
    }

    /// H.264's parameters that stand under another description: some cameras write them under the audio.
    private static func strayFormatParameters(_ payloadType: UInt8, in session: SessionDescription) -> FormatParameters
    {
        for media in session.media {
            for value in media.values(of: "fmtp") {
                let words = value.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
                guard words.count == 2, UInt8(words[0]) == payloadType else { continue }
                let parameters = FormatParameters(parsing: words[1])
                if parameters["sprop-parameter-sets"] != nil { return parameters }
            }
        }
        return []
    }
}

extension MediaCodec {
    /// The codecs of which viewers can be given something.
    fileprivate var isPullable: Bool {
        if isVideo { return clockRate == 90_000 }
        return isTranscodableSound && (4000...192_000).contains(clockRate) && (1...8).contains(channels)
    }

    fileprivate var isVideo: Bool { isTranscodableVideo }

    /// Mends what cameras get wrong: Opus always is `opus/48000/2` (RFC 7587, section 7), whatever the encoder's input
    /// was, and video runs at 90 kHz also where no rate is given.
    fileprivate mutating func normalize() {
        if isNamed("opus") {
            clockRate = 48_000
            channels = 2
        } else if isVideo, clockRate == 0 {
            clockRate = 90_000
        } else if isNamed("PCMU") || isNamed("PCMA"), clockRate == 0 {
            clockRate = 8000
        }
    }
}

extension CameraDescription.Track {
    /// What most viewers can play comes first.
    fileprivate var rank: Int { description.codec.passThroughRank ?? 100 }
}
