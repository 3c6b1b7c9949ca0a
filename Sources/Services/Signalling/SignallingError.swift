import Cameras
import Codecs
import SDP
import Stations

/// Why the signalling services do not do what they were asked.
public enum SignallingError: Error, Equatable, Sendable {
    /// The offer is not a session description.
    case unreadableOffer(SDPError)
    /// The offer cannot be answered.
    case refusedOffer(OfferRefusal)
    /// The fragment cannot be read (RFC 8840).
    case unreadableFragment(SDPError)
    /// The fragment's ICE credentials cannot be used; says what is wrong with them, and in which line, from 1.
    case unusableCredentials(ICECredentialFault, line: Int?)
    /// No such device.
    case unknownDevice(String)
    /// No such session, or it has ended, or it belongs to another principal.
    case unknownSession
    /// No such clip, or it ended long ago.
    case unknownClip(device: String)
    /// Another principal started the clip.
    case foreignClip
    /// The camera's station cannot do it.
    case station(StationError)
    /// The camera sent no media before the request's deadline.
    case noMediaBeforeDeadline(device: String)
    /// The camera was stopped while its publisher came.
    case stopped(device: String)
    /// The camera is not one that publishers send.
    case takesNoPublisher(device: String)
    /// The principal may not publish to the camera.
    case mayNotPublish(device: String)
    /// Publishers of the camera have just begun, or replaced one another. `wait` says how long no further one may.
    case publishersChangeTooOften(device: String, wait: Duration)
    /// The camera has no speaker.
    case noSpeaker(device: String)
    /// The viewer's offer had no microphone.
    case noMicrophone
    /// Somebody else has the camera's floor: a talker, or a clip.
    case floorTaken(device: String, by: TalkKind)
    /// The talk or clip was ended before the camera's speaker was open.
    case endedWhileOpening(TalkKind)
    /// The camera does not play talk.
    case speaker(SpeakerRefusal)
    /// The clip cannot be played.
    case unusableClip(ClipFault)
    /// There are too many live views.
    case limitReached(ViewLimit)
    /// The session has reached its longest duration.
    case maximumDurationReached(seconds: Int)
    /// The decoder of the talker's microphone could not be made.
    case noTalkbackDecoder(CodecError)
    /// The gateway has no thread for the talk.
    case noTalkThread
}

/// What has a camera's floor.
public enum TalkKind: Hashable, Sendable {
    /// A viewer's microphone.
    case session
    /// A clip.
    case clip
}

/// What is wrong with a clip.
public enum ClipFault: Hashable, Sendable {
    /// The file is larger than ``TalkClip/maximumBytes``.
    case tooLarge(bytes: Int)
    /// The file cannot be read as WAV.
    case unreadable(WAVError)
    /// The file has no samples.
    case silent
    /// The sound is longer than ``TalkClip/maximumSeconds``.
    case tooLong(seconds: Double)
}

/// Which limit of live views was reached.
public enum ViewLimit: Hashable, Sendable {
    /// The gateway has reached its limit.
    case gateway(views: Int, PlaceShares.Refusal)
    /// The camera has reached its limit.
    case camera(String, views: Int, PlaceShares.Refusal)
    /// The principal has reached its limit, whatever the camera.
    case principal(String, views: Int)
}
