import Foundation
import HomeTypes

/// What changed in the home.
public enum HomeChange: Sendable, Equatable {
    /// What happened to a session.
    public enum SessionChange: String, Sendable, Codable {
        case started, changed, ended
    }

    /// A structure is now this.
    case structure(StructureSnapshot)
    /// A structure has left the home.
    case structureRemoved(structureID: String)
    /// A room is now this.
    case room(RoomSnapshot)
    /// A room has left its structure.
    case roomRemoved(roomID: String)
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
    /// A camera has detected something.
    case detection(deviceID: String, at: Date, DetectionEvent)
    /// A recording has begun.
    case recordingBegan(deviceID: String, at: Date, Google.PushAvStreamTransportTrait.PushTransportBeginEvent)
    /// A recording has ended.
    case recordingEnded(deviceID: String, at: Date, Google.PushAvStreamTransportTrait.PushTransportEndEvent)
    /// A trait of a device has sent an event.
    case traitEvent(deviceID: String, at: Date, TraitEvent)
    /// The owner has to know something.
    case alarm(HomeAlarm)
    /// What `GET /v1/configuration` or `GET /v1/cameras` answers has changed. Only those who may read it get this change.
    case configuration(ConfigurationSummary)
    /// The watcher does not get, or has not received, every change: why, and what to do. It does not have a cursor.
    /// If `eventsFollow`, the state came before it and the events since the watcher's cursor follow, so no event is missing.
    case missed(reason: String, eventsFollow: Bool = false)
}

extension HomeChange {
    /// The device that the change is about; nil for a change of something else.
    public var deviceID: String? {
        switch self {
        case .device(let device), .deviceAdded(let device): device.id
        case .deviceRemoved(let id), .doorbellPressed(let id, _, _), .detection(let id, _, _),
            .recordingBegan(let id, _, _), .recordingEnded(let id, _, _), .traitEvent(let id, _, _):
            id
        case .structure, .structureRemoved, .room, .roomRemoved, .session, .alarm, .configuration, .missed: nil
        }
    }
}
