/// Why a camera does not play talk.
public enum SpeakerRefusal: Error, Equatable, Sendable {
    /// No connection can be made.
    case unreachable(CameraFailure)
    /// The speaker has not opened within this time.
    case noAnswer(within: Duration)
    /// The credentials are missing or refused.
    case unauthorized(CameraFailure)
    /// The camera describes no speaker.
    case noBackChannel
    /// The camera's speaker accepts none of the codecs that the gateway encodes; names the camera's.
    case noCommonCodec(offered: [String])
    /// The camera accepts sound over UDP only.
    case needsDatagrams
    /// The camera refuses the session that carries the sound, as cameras do that serve only one client.
    case sessionRefused(CameraFailure)
    /// The connection broke during a talk.
    case brokenOff(CameraFailure)
    /// The camera's source was stopped during a talk.
    case sourceStopped
    /// The gateway could not do its part.
    case gatewayFault(CameraFailure)
}
