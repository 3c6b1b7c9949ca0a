extension SourceState {
    /// The state as the end of a sentence about a camera.
    public var words: String {
        switch self {
        case .idle: "it has not been started"
        case .resolving: "its host name is being looked up"
        case .connecting: "the gateway is connecting to it"
        case .authenticating: "it asks for credentials"
        case .describing: "the gateway is asking what it sends"
        case .settingUp: "its tracks are being set up"
        case .playing: "it has agreed to play but has sent nothing yet"
        case .flowing: "it is sending media"
        case .stalled(let track): "track \(track) has stalled"
        case .backingOff(0, let reason): reason.words
        case .backingOff(let seconds, let reason): "\(reason.words); the next try is in \(Int(seconds.rounded(.up))) s"
        case .givenUp(_, let failures, let reason):
            "\(reason.words); it is given up for a while after \(failures) such failures"
        case .stopped: "it has been stopped"
        }
    }
}
