import MediaRelay
import Stations

extension PublisherEnd {
    /// Why the publisher ended, as it reads it.
    public var words: String {
        switch self {
        case .stopped: "the publisher has stopped"
        case .replaced: "another publisher has taken over the camera"
        case .sourceStopped: "the camera has been stopped or changed"
        case .disconnected: "the connection to the publisher was closed or lost"
        case .silent: "the publisher has sent nothing for too long"
        case .unusable: "the publisher sent what cannot be used"
        case .accessEnded: "the publisher's token no longer permits publishing"
        case .revoked(let refusal): refusal.endReason
        case .cameraGone(let end): end.words
        case .relay(let end): end.words
        case .shuttingDown: "the gateway is shutting down"
        }
    }
}
