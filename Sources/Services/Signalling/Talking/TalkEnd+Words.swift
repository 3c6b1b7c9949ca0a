import Cameras

extension TalkEnd {
    /// Why the talk ended, as its talker reads it.
    public var words: String {
        switch self {
        case .stopped: "the talker stopped"
        case .silent(let duration): "the talker has sent no sound for \(duration.components.seconds) s"
        case .sessionEnded(let end): end.words
        case .clipPlayed: "the clip has ended"
        case .clipStopped: "the clip was stopped"
        case .refused(let refusal): refusal.words
        case .noThread: "the gateway has no thread left for the talk"
        }
    }
}
