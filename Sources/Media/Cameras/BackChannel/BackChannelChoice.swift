import Codecs
import RTSP
import SDP

/// The speaker's track and codec for a talk, with its encoder.
struct BackChannelChoice {
    let codec: BackChannelCodec
    let encoder: any AudioEncoder

    /// Chooses from the speakers of a session description that came from `url`.
    init(from session: SessionDescription, baseURI: String, url: RTSPURL) throws(SpeakerRefusal) {
        let speakers = session.cameraTracks.filter { $0.role == .speaker }
        guard !speakers.isEmpty else { throw .noBackChannel }
        let tracks = speakers.map { (controlURI: url.controlURI($0.control, base: baseURI), payloads: $0.payloads) }
        for candidate in BackChannelCodec.ranked(tracks) {
            // If an encoder cannot be made (a library is missing, its parameters make no sense), the next one is tried.
            guard let made = try? SpeechEncoders.make(for: candidate.payload.codec) else { continue }
            (codec, encoder) = (candidate, made)
            return
        }
        throw .noCommonCodec(offered: speakers.flatMap(\.payloads).map(\.codec.rateName))
    }
}
