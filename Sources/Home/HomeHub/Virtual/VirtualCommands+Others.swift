import HomeTypes

/// Players, chimes and the rest.
extension VirtualCommands {
    private typealias Media = Matter.MediaPlaybackTrait
    private typealias Identify = Matter.IdentifyTrait

    mutating func addOthers() {
        on(Identify.IdentifyCommand.self) { _, _ in }
        answer(Media.PlayCommand.self) { _, traits in
            traits[Media.self]?.currentState = .playing
            return .init(status: .success)
        }
        answer(Media.PauseCommand.self) { _, traits in
            guard traits[Media.self]?.currentState != .notPlaying else { return .init(status: .invalidStateForCommand) }
            traits[Media.self]?.currentState = .paused
            return .init(status: .success)
        }
        answer(Media.StopCommand.self) { _, traits in
            traits[Media.self]?.currentState = .notPlaying
            return .init(status: .success)
        }
        on(Google.ChimeTrait.PlayChimeSoundCommand.self) { _, traits in
            guard traits[Google.ChimeTrait.self]?.enabled != false else {
                throw HomeError.failedPrecondition("this chime is switched off (enabled)")
            }
        }
    }
}
