import Signalling
import Transport

/// Why a client may not publish. Cameras are named as the client names them.
public enum RTSPPublisherRefusal: Equatable, Sendable {
    /// Nobody can publish here.
    case notOffered
    /// Its token is valid, but does not permit publishing there.
    case token(PublisherTokenFault)
    /// What it announces cannot be used.
    case announcement(AnnouncementFault)
    /// The camera cannot be published to.
    case failed(SignallingError)
}
