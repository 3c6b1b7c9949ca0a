import MediaRelay
import Stations

/// Why a live view or a publisher has ended.
public enum SessionEnd: Hashable, Sendable {
    /// The viewer stopped the live view.
    case stopped
    /// The publisher stopped.
    case publisherStopped
    /// Another publisher took over the camera.
    case replaced
    /// The camera's source was stopped, or replaced by another one.
    case sourceStopped
    /// The publisher's connection was closed or lost.
    case publisherDisconnected
    /// The publisher has sent nothing for too long.
    case publisherSilent
    /// The publisher sent what cannot be used, or what its protocol does not allow.
    case publisherUnusable
    /// The publisher's token no longer permits publishing.
    case accessEnded
    /// The lease was not extended.
    case leaseExpired
    /// The viewer did not connect in time, and another view needed its place.
    case gaveWay
    /// The camera was switched off, or a privacy mode was switched on.
    case revoked(OutputRefusal)
    /// The camera's station went away.
    case cameraGone(StationEnd)
    /// The connection was lost, or the relay cannot serve the session.
    case relay(RelayEnd)
    /// The gateway is shutting down.
    case shuttingDown
}
