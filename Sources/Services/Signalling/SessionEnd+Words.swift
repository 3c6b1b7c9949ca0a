import MediaRelay
import Stations

extension SessionEnd {
    /// Why the session ended, as its viewer reads it.
    public var words: String {
        switch self {
        case .stopped: "the viewer stopped the live view"
        case .leaseExpired: "the lease was not extended"
        case .gaveWay: "it did not connect in time, and another view needed its place"
        case .revoked(let refusal): refusal.endReason
        case .cameraGone(let end): end.words
        case .relay(let end): end.words
        case .shuttingDown: "the gateway is shutting down"
        }
    }
}
