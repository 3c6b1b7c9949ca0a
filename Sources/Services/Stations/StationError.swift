import Cameras
import Codecs
import MediaRelay

/// Why a station cannot do what it was asked.
public enum StationError: Error, Equatable, Sendable {
    /// The camera is not sending media; its state says why.
    case noMedia(camera: String, SourceState)
    /// The camera sends no video.
    case noVideo(camera: String)
    /// The camera's video cannot be decoded, and there is no picture that is at most `recent` old.
    case damagedVideo(camera: String, PictureDamage, recent: Duration)
    /// The gateway has no decoder for the camera's codec.
    case unreadableVideo(codec: String, CodecError)
    /// The camera has sent no key frame for this long.
    case noKeyFrame(camera: String, within: Duration)
    /// For this long, the camera has sent nothing that can be shown as a stream. Says why, as far as that is known.
    case nothingToShow(camera: String, within: Duration, CameraStation.Snapshot.Trouble? = nil)
    /// A picture could not be encoded as JPEG.
    case pictureNotEncoded(CodecError)
    /// There is not enough processor time for another transcoder.
    case transcodingRefused(TranscodingRefusal)
    /// The camera is off, or a privacy mode is on.
    case refused(camera: String, OutputRefusal)
    /// The camera was switched off, or another one took its place, while the station was at work.
    case switchedOffMeanwhile(camera: String)
    /// Another gateway of the home runs the camera, or this one's tenure has ended.
    case runsElsewhere(camera: String)
}

/// Why no picture can be made from video that arrives.
public struct PictureDamage: Hashable, Sendable {
    /// The name of the video's codec.
    public var codec: String
    /// The decoder's last error; nil if it produced no picture and reported none.
    public var error: CodecError?

    /// Describes damage.
    public init(codec: String, error: CodecError?) {
        self.codec = codec
        self.error = error
    }
}
