import HomeTypes

extension CameraLog.Condition {
    /// What a source's state means to the log.
    init(_ status: CameraSourceStatus) {
        switch status.state {
        case .flowing:
            self = .up(status.tracks.map(\.codec).joined(separator: ", "))
        case .stalled, .backingOff, .givenUp:
            self = .down(reason: Self.reason(status.trouble), isGivenUp: status.state == .givenUp)
        case .idle: self = .resting
        // A camera whose media cannot be used is stopped with a reason. One that its owner stopped has none.
        case .stopped: self = status.trouble.map { .down(reason: $0.reason, isGivenUp: false) } ?? .moving
        case .resolving, .connecting, .authenticating, .describing, .settingUp: self = .moving
        }
    }

    /// What the state of a camera's events means to the log.
    init(_ status: EventSourceStatus) {
        switch status.state {
        case .subscribed: self = .up("")
        case .backingOff: self = .down(reason: Self.reason(status.trouble), isGivenUp: false)
        case .connecting, .stopped: self = .moving
        }
    }

    /// The reason, without what differs with each attempt.
    private static func reason(_ trouble: SourceTrouble?) -> String { trouble?.reason ?? "unknown" }
}
