import MediaRelay
import Stations

/// Why a live view has ended.
public enum SessionEnd: Hashable, Sendable {
    /// The viewer stopped the live view.
    case stopped
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
