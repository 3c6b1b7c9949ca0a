import Signalling

/// Why a client may not publish. Cameras are named as the client names them.
public enum RTSPPublisherRefusal: Equatable, Sendable {
    /// Nobody can publish here.
    case notOffered
    /// Its token is valid, but does not permit publishing there. Holds what would help, in the words of whoever judged the
    /// token.
    case token(words: String)
    /// What it announces cannot be used.
    case announcement(AnnouncementFault)
    /// The camera cannot be published to.
    case failed(SignallingError)
}
