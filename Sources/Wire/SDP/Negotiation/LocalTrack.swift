/// What this side has for one media description.
public struct LocalTrack: Hashable, Sendable {
    /// Audio or video.
    public var kind: MediaKind
    /// What is sent, the most preferred first: for a camera's track that passes through, its one codec.
    public var codecs: [MediaCodec]
    /// Whether media is sent.
    public var sends: Bool
    /// Whether media is received from the peer.
    public var receives: Bool
    /// What can be received, the most preferred first.
    public var receiveCodecs: [MediaCodec]
    /// The source of what is sent.
    public var ssrc: UInt32
    /// The source of retransmissions; nil where retransmissions are not sent as a separate stream.
    public var rtxSSRC: UInt32?
    /// The canonical name of the sender (RFC 3550, section 6.5.1), the same for audio and video that play in sync.
    public var cname: String
    /// The MediaStream that the track becomes at the peer.
    public var streamID: String
    /// The track's name at the peer.
    public var trackID: String
    /// The name of a choice. Of all tracks with the same choice, a peer gets the first that it can play. Nil for a
    /// track that is not part of a choice.
    public var choice: String?

    /// Describes a track.
    public init(
        kind: MediaKind, codecs: [MediaCodec], sends: Bool = true, receives: Bool = false,
        receiveCodecs: [MediaCodec] = [], ssrc: UInt32, rtxSSRC: UInt32? = nil, cname: String, streamID: String,
        trackID: String, choice: String? = nil
    ) {
        self.kind = kind
        self.codecs = codecs
        self.sends = sends
        self.receives = receives
        self.receiveCodecs = receiveCodecs
        self.ssrc = ssrc
        self.rtxSSRC = rtxSSRC
        self.cname = cname
        self.streamID = streamID
        self.trackID = trackID
        self.choice = choice
    }
}

extension MediaCodec {
    /// Opus (RFC 7587): always 48 kHz and two channels, whatever is encoded.
    public static let opus = MediaCodec(
        name: "opus", clockRate: 48000, channels: 2,
        formatParameters: [.init(name: "minptime", value: "10"), .init(name: "useinbandfec", value: "1")])
    /// G.711 µ-law.
    public static let pcmu = MediaCodec(name: "PCMU", clockRate: 8000)
    /// G.711 A-law.
    public static let pcma = MediaCodec(name: "PCMA", clockRate: 8000)
    /// G.722, whose clock is 8 kHz by an old error though its sound has 16 kHz (RFC 3551, section 4.5.2).
    public static let g722 = MediaCodec(name: "G722", clockRate: 8000)
    /// VP8 (RFC 7741).
    public static let vp8 = MediaCodec(name: "VP8", clockRate: 90000)
    /// AV1 of the profile Main.
    public static let av1 = MediaCodec(name: "AV1", clockRate: 90000)

    /// H.264 in fragments (RFC 6184, packetization-mode 1) of the profile and level, six hexadecimal digits.
    public static func h264(profileLevelID: String) -> MediaCodec {
        MediaCodec(
            name: "H264", clockRate: 90000,
            formatParameters: [
                .init(name: "level-asymmetry-allowed", value: "1"), .init(name: "packetization-mode", value: "1"),
                .init(name: "profile-level-id", value: profileLevelID),
            ])
    }
}
