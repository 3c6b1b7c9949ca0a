import RTSP
import SDP

/// What was found out about a camera that was watched for some seconds. It holds no password.
public struct CameraProbeReport: Sendable, Hashable {
    /// The findings about one track.
    public struct Track: Sendable, Hashable {
        /// The track's description.
        public var description: TrackDescription
        /// The profile and level in words, for example `H.264 Main, level 4.0`; nil where the stream did not state
        /// them.
        public var profile: String?
        /// The width of the picture in pixels.
        public var width: Int?
        /// The height of the picture in pixels.
        public var height: Int?
        /// Whether frames depend on later ones, which no browser plays without stutter; nil where no picture was seen.
        public var hasBFrames: Bool?
        /// The mean time from key frame to key frame in seconds; nil where fewer than two came.
        public var keyFrameInterval: Double?
        /// Key frames that came.
        public var keyFrames = 0
        /// The mean rate of the payloads in bits per second.
        public var bitsPerSecond = 0
        /// Frames of video, or packets of sound, per second.
        public var framesPerSecond = 0.0
        /// Packets that came.
        public var packets = 0
        /// Packets that were missing.
        public var lostPackets = 0
        /// How far the camera's clock is ahead of the gateway's in seconds, by its sender reports.
        public var clockOffset: Double?

        init(_ description: TrackDescription) { self.description = description }
    }

    /// The address without credentials.
    public var address: String
    /// Why nothing came; nil where packets came.
    public var failure: String?
    /// What kind of failure that is.
    public var failureKind: CameraFailure.Kind?
    /// Seconds from the beginning until the camera agreed to play.
    public var secondsToPlay: Double?
    /// Seconds from the beginning until the first packet.
    public var secondsToFirstPacket: Double?
    /// Seconds from the beginning until the first key frame.
    public var secondsToFirstKeyFrame: Double?
    /// The seconds of the watch, from the first packet on.
    public var secondsWatched = 0.0
    /// The tracks, video first.
    public var tracks: [Track] = []
    /// What the camera's speaker plays; nil where the camera describes none.
    public var backChannel: BackChannelDescription?
    /// How the camera was reached.
    public var transport = RTSPTransportInUse()
    /// The findings for the next connection.
    public var profile = CameraProfile()
    /// Which parts of the camera's session description are not pulled, and why.
    public var notes: [CameraNote] = []

    /// Whether a camera that is asked by ONVIF has a smaller stream, which was not watched; nil for others.
    public var hasSubstream: Bool?

    /// Whether the camera sends JPEG pictures, and the tracks are what the gateway makes of them.
    public var isMadeOfPictures = false

    init(address: String) { self.address = address }

    /// Whether packets came.
    public var isReached: Bool { failure == nil }

    /// In words: what viewers will get.
    public var advice: [String] {
        guard isReached else { return ["Viewers see nothing: \(failure ?? "")."] }
        var lines = tracks.map(Self.advice)
        if hasSubstream == true {
            lines.append(
                "Second stream: the camera has a smaller one, too. The gateway pulls both, for small pictures, slow "
                    + "paths and viewers that cannot play the large one.")
        }
        if isMadeOfPictures {
            lines.append(
                "Processor: the gateway decodes and encodes every picture of this camera, while somebody watches or "
                    + "records it (pull: on-demand, the default for such a camera). If the camera also has an RTSP "
                    + "address, that one costs nothing.")
        }
        if !tracks.contains(where: { $0.description.kind == .audio }) {
            lines.append("No sound: the camera offers none that can be pulled.")
        }
        lines.append(
            backChannel == nil
                ? "No talkback: the camera describes no speaker."
                : "Talkback: the camera's speaker plays \(backChannelCodecs.joined(separator: ", ")).")
        for track in tracks {
            guard let offset = track.clockOffset, abs(offset) > 5 else { continue }
            let seconds = Int(min(abs(offset), 1e12))
            lines.append(
                "The camera's clock is \(seconds) s \(offset > 0 ? "ahead" : "behind"); live view is not affected.")
            break
        }
        return lines
    }

    /// The codecs of the back channel, as `PCMA/8000`.
    public var backChannelCodecs: [String] {
        backChannel?.payloads.map { "\($0.codec.name)/\($0.codec.clockRate)" } ?? []
    }

    private static func advice(_ track: Track) -> String {
        let name = track.description.codec.name.uppercased()
        if track.packets == 0 { return "\(name): described, but no packets arrived." }
        guard track.description.kind == .video else {
            switch name {
            case "OPUS", "PCMU", "PCMA": return "Sound: \(name) is passed through to every viewer."
            case "G722":
                return "Sound: G722 is passed through to the viewers that play it, and transcoded to Opus for others."
            default: return "Sound: \(name) is transcoded to Opus, once for all viewers."
            }
        }
        var text: String
        switch name {
        case "H264" where track.hasBFrames == true:
            text =
                "Picture: H.264 with B-frames, which make browsers stutter, so it is transcoded to VP8, which takes "
                + "processor time; switch off B-frames in the camera (its Baseline profile has none), or name a "
                + "substream without them."
        case "H264": text = "Picture: H.264 is passed through to every viewer that plays it."
        case "VP8", "VP9": text = "Picture: \(name) is passed through to every viewer."
        case "AV1":
            text =
                "Picture: AV1 is passed through to the viewers that play it, and transcoded to VP8 for others, which "
                + "takes processor time, unless you name a substream in H.264."
        case "H265":
            text =
                "Picture: H.265 is passed through to the viewers that play it, and transcoded to VP8 for others, which "
                + "takes processor time, unless you name a substream in H.264."
        default:
            text = "Picture: no browser plays \(name) live, so it is transcoded to VP8, which takes processor time."
        }
        if let interval = track.keyFrameInterval, interval > 4.5 {
            text += " Key frames come only every \(Int(interval.rounded())) s, and recordings can only be cut there."
        }
        return text
    }
}
