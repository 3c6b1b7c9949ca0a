import Foundation
import HomeTypes

/// What changed in the home.
public enum HomeChange: Sendable, Equatable {
    /// What happened to a session.
    public enum SessionChange: String, Sendable, Codable {
        case started, changed, ended
    }

    /// A device's state is now this.
    case device(DeviceSnapshot)
    /// A device is new in the home.
    case deviceAdded(DeviceSnapshot)
    /// A device has left the home.
    case deviceRemoved(deviceID: String)
    /// A session started, changed or ended; the last state is given.
    case session(SessionChange, SessionSnapshot)
    /// A doorbell's button was pressed.
    case doorbellPressed(deviceID: String, at: Date, Google.DoorbellPressTrait.DoorbellPressedEvent)
    /// A camera has noticed something.
    case detection(deviceID: String, at: Date, DetectionEvent)
    /// The watcher does not hear, or has not heard, of everything: why, and what to do. It has no place of its own.
    case missed(reason: String)
    /// Nothing changed; sent now and then so that a dead connection is noticed.
    case heartbeat
}

/// A change with its place in the stream.
public struct HomeEvent: Sendable, Equatable {
    /// The place, opaque to clients: which run of the gateway, and which change of that run. Empty where there is no
    /// place to come back to (the state sent first, heartbeats).
    public var id: String
    /// The change.
    public var change: HomeChange

    /// Names a change.
    public init(id: String, change: HomeChange) {
        self.id = id
        self.change = change
    }
}
