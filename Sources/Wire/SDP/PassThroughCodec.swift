/// A codec that the gateway passes on as the camera sends it, to viewers that offer it.
///
/// ``all`` is the one list of them. Whatever names such codecs, from the choice of a camera's track to the words of
/// `gatehouse sdp explain`, reads it.
public struct PassThroughCodec: Hashable, Sendable {
    /// Whether it is sound or video.
    public var kind: MediaKind
    /// The codec, without the parameters that differ from camera to camera.
    public var codec: MediaCodec
    /// What people call it.
    public var title: String
    /// How well it suits viewers: 0 is best.
    public var rank: Int

    /// All of them, the best of each kind first.
    public static let all = [
        PassThroughCodec(kind: .video, codec: MediaCodec(name: "H264", clockRate: 90000), title: "H.264", rank: 0),
        PassThroughCodec(kind: .video, codec: .vp8, title: "VP8", rank: 1),
        PassThroughCodec(kind: .video, codec: MediaCodec(name: "VP9", clockRate: 90000), title: "VP9", rank: 2),
        PassThroughCodec(kind: .video, codec: .av1, title: "AV1", rank: 2),
        PassThroughCodec(kind: .video, codec: MediaCodec(name: "H265", clockRate: 90000), title: "H.265", rank: 3),
        PassThroughCodec(kind: .audio, codec: .opus, title: "Opus", rank: 0),
        PassThroughCodec(kind: .audio, codec: .pcmu, title: "G.711 µ-law", rank: 1),
        PassThroughCodec(kind: .audio, codec: .pcma, title: "G.711 A-law", rank: 2),
        PassThroughCodec(kind: .audio, codec: .g722, title: "G.722", rank: 3),
    ]
}

extension MediaCodec {
    /// How well the codec suits viewers without transcoding: 0 is best; nil where no browser plays it. VP9, AV1, H.265
    /// and G.722 go only to viewers that offer them.
    public var passThroughRank: Int? {
        PassThroughCodec.all.first { known in
            // Opus always has a clock of 48 kHz (RFC 7587, section 4.1), whatever a camera writes.
            isNamed(known.codec.name) && (clockRate == known.codec.clockRate || isNamed("opus"))
        }?.rank
    }
}
