import MediaRelay
import Stations

extension SessionEnd {
    /// Why the session ended, as its viewer or publisher reads it.
    public var words: String {
        switch self {
        case .stopped: "the viewer stopped the live view"
        case .publisherStopped: "the publisher has stopped"
        case .replaced: "another publisher has taken over the camera"
        case .sourceStopped: "the camera has been stopped or changed"
        case .publisherDisconnected: "the connection to the publisher was closed or lost"
        case .publisherSilent: "the publisher has sent nothing for too long"
        case .publisherUnusable: "the publisher sent what cannot be used"
        case .accessEnded: "the publisher's token no longer permits publishing"
        case .leaseExpired: "the lease was not extended"
        case .gaveWay: "it did not connect in time, and another view needed its place"
        case .revoked(let refusal): refusal.endReason
        case .cameraGone(let end): end.words
        case .relay(let end): end.words
        case .shuttingDown: "the gateway is shutting down"
        }
    }
}
