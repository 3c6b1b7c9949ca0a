import Cameras

/// Why a talk has ended, or did not begin.
public enum TalkEnd: Equatable, Sendable {
    /// The talker stopped.
    case stopped
    /// The talker's microphone sent no sound for this long.
    case silent(Duration)
    /// The talker's session ended.
    case sessionEnded(SessionEnd)
    /// The clip has been played.
    case clipPlayed
    /// The clip was stopped.
    case clipStopped
    /// The camera does not accept the sound, or no longer accepts it.
    case refused(SpeakerRefusal)
    /// The gateway has no thread for the talk.
    case noThread

    /// Whether nothing more may reach the camera: it was switched off. Otherwise the last words are still sent.
    var isSilent: Bool { if case .sessionEnded(.revoked) = self { true } else { false } }
}
