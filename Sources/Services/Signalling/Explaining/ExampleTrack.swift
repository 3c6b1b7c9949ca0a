import SDP

/// An example of what cameras send, with which ``DescriptionExplainer`` tries an offer.
struct ExampleTrack {
    /// Whether it is sound or video.
    var kind: MediaKind
    /// What people call the codec.
    var title: String
    /// The codec with the parameters of a usual camera.
    var codec: MediaCodec

    /// One or more for each codec that is passed through, and some that viewers only get transcoded.
    static let all = PassThroughCodec.all.flatMap(examples) + transcoded

    private static func examples(of known: PassThroughCodec) -> [ExampleTrack] {
        guard known.codec.isNamed("H264") else {
            return [ExampleTrack(kind: known.kind, title: known.title, codec: known.codec)]
        }
        // Viewers differ in the profiles that they play.
        let profiles = [("Constrained Baseline", "42e01f"), ("Main", "4d001f"), ("High, 1080p", "640028")]
        return profiles.map { name, profile in
            ExampleTrack(kind: .video, title: "\(known.title) \(name)", codec: .h264(profileLevelID: profile))
        }
    }

    private static let transcoded = [
        ExampleTrack(kind: .video, title: "Motion JPEG", codec: MediaCodec(name: "JPEG", clockRate: 90000)),
        ExampleTrack(
            kind: .audio, title: "AAC",
            codec: MediaCodec(
                name: "MPEG4-GENERIC", clockRate: 16000,
                formatParameters: FormatParameters(
                    parsing: "mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3;config=1408"))),
    ]
}
