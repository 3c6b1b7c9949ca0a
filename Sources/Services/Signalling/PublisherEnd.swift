import MediaRelay
import Stations

/// Why a publisher has ended.
public enum PublisherEnd: Hashable, Sendable {
    /// It stopped.
    case stopped
    /// Another publisher took over the camera.
    case replaced
    /// The camera's source was stopped, or replaced by another one.
    case sourceStopped
    /// Its connection was closed or lost.
    case disconnected
    /// It has sent nothing for too long.
    case silent
    /// It sent what cannot be used, or what its protocol does not allow.
    case unusable
    /// Its token no longer permits publishing.
    case accessEnded
    /// The camera was switched off, or a privacy mode was switched on.
    case revoked(OutputRefusal)
    /// The camera's station went away.
    case cameraGone(StationEnd)
    /// Its WebRTC connection was lost, or the relay cannot serve it.
    case relay(RelayEnd)
    /// The gateway is shutting down.
    case shuttingDown
}
