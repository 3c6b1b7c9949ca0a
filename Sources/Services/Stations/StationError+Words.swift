import Cameras
import Codecs
import MediaRelay

extension StationError {
    /// Why the station cannot do it, and what would help.
    public var words: String {
        switch self {
        case .noMedia(let camera, let state): "\(camera) is not sending media: \(state.words)"
        case .noVideo(let camera): "\(camera) sends no video, so there is no picture of it"
        case .damagedVideo(let camera, let damage, let recent):
            "\(camera) sends video that cannot be decoded (\(damage.words)), and there is no picture from the last "
                + "\(recent.components.seconds) s; try again"
        case .unreadableVideo(let codec, let error): "the gateway cannot make a picture from \(codec): \(error.reason)"
        case .noKeyFrame(let camera, let duration):
            "\(camera) has sent no key frame for \(duration.components.seconds) s"
        case .nothingToShow(let camera, let duration, let trouble):
            "\(camera) has sent nothing that can be shown for \(duration.components.seconds) s"
                + (trouble.map { ": \($0.words)" } ?? "")
        case .pictureNotEncoded(let error): "the picture could not be encoded as JPEG: \(error.reason)"
        case .transcodingRefused(let refusal): refusal.words
        case .refused(let camera, let refusal): "\(camera) \(refusal.words)"
        case .switchedOffMeanwhile(let camera): "\(camera) was switched off or changed in the meantime; try again"
        case .runsElsewhere(let camera): "another gateway of the home runs \(camera)"
        }
    }
}

extension PictureDamage {
    /// The codec, and what was wrong.
    public var words: String { "\(codec): \(error?.reason ?? "the decoder produced no picture")" }
}
