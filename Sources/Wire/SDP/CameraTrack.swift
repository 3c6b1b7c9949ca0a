import Transport

/// One media description of a camera, as RTSP's DESCRIBE gives it (RFC 2326, appendix C).
public struct CameraTrack: Hashable, Sendable {
    /// The direction in which the media flows.
    public enum Role: String, Hashable, Sendable, Codable {
        /// The camera sends it.
        case source
        /// The camera plays it: the back channel of ONVIF's streaming specification.
        case speaker
    }

    /// The position of the `m=` line, from 0.
    public var index: Int
    /// What it carries.
    public var kind: MediaKind
    /// The direction in which it flows.
    public var role: Role
    /// The payload types with their codecs in order; never empty.
    public let payloads: [RTPPayload]
    /// The URL of the track, absolute or relative; nil where the camera gives none.
    public var control: String?

    /// The first codec, which is what a camera's own track has.
    public var codec: MediaCodec { payloads[0].codec }
    /// The payload type of the first codec.
    public var payloadType: UInt8 { payloads[0].payloadType }
}

extension SessionDescription {
    /// The tracks of a camera, in order: every `m=` line of audio or video with a codec that can be read.
    ///
    /// `a=sendonly` marks ONVIF's back channel, where the camera writes what the client does. Some cameras write it on
    /// everything that they send. So it counts only on audio, and only where no other media has it.
    public var cameraTracks: [CameraTrack] {
        let isMarkedThroughout = media.allSatisfy { section in
            (section.kind != .audio && section.kind != .video) || direction(of: section) == .sendonly
        }
        return media.indices.compactMap { index in
            let section = media[index]
            let payloads = payloads(ofMediaAt: index).filter { !$0.codec.isAuxiliary }
            guard section.kind == .audio || section.kind == .video, !payloads.isEmpty else { return nil }
            let isSpeaker = section.kind == .audio && section.ownDirection == .sendonly && !isMarkedThroughout
            return CameraTrack(
                index: index, kind: section.kind, role: isSpeaker ? .speaker : .source, payloads: payloads,
                control: section.control)
        }
    }
}

extension MediaCodec {
    /// Whether it is a camera's sound that can be transcoded to Opus for viewers.
    public var isTranscodableSound: Bool {
        let name = name.lowercased()
        if ["mpeg4-generic", "mp4a-latm", "l16", "pcm", "pcmu", "pcma", "g722", "opus", "g721"].contains(name) {
            return true
        }
        // G.726 has four rates (RFC 3551, section 4.5.4); a name with any other rate is not a codec.
        let variant = name.hasPrefix("aal2-") ? String(name.dropFirst(5)) : name
        return ["g726-16", "g726-24", "g726-32", "g726-40"].contains(variant)
    }

    /// Whether it is a video codec that the project knows; all of them have a clock of 90 kHz.
    public var isVideo: Bool { isTranscodableVideo || isNamed("AV1") }

    /// Whether it is video that can be transcoded to VP8 for viewers.
    public var isTranscodableVideo: Bool { ["h264", "h265", "vp8", "vp9", "av1", "jpeg"].contains(name.lowercased()) }

    /// Whether a camera's track of this codec is of use: viewers accept it, or it can be transcoded to what they
    /// accept.
    public var isOfUse: Bool { isTranscodableSound || isTranscodableVideo }
}

extension FormatParameters {
    /// The H.264 parameter sets of `sprop-parameter-sets`, each one NAL unit (RFC 6184, section 8.1). Parts that are
    /// not Base64 are left out.
    public var parameterSets: [[UInt8]] {
        (self["sprop-parameter-sets"] ?? "").parts(separatedBy: ",").compactMap { Base64.decode($0.trimmed) }.filter {
            !$0.isEmpty
        }
    }
}

extension FormatParameters {
    /// The H.265 parameter sets of `sprop-vps`, `sprop-sps` and `sprop-pps`, each one NAL unit (RFC 7798, section 7.1).
    /// Some cameras name only some of them. Parts that are not Base64 are left out.
    public var h265ParameterSets: [[UInt8]] {
        ["sprop-vps", "sprop-sps", "sprop-pps"].flatMap { name in
            (self[name] ?? "").parts(separatedBy: ",").compactMap { Base64.decode($0.trimmed) }.filter { !$0.isEmpty }
        }
    }
}
