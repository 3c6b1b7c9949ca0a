public import Foundation
public import HomeHub
import HomeTypes

/// A message of the Smart Device Management API's event feed.
///
/// Source: Device Access, "Events"; the fields `eventThreadId` and `eventThreadState` are those of updatable events.
public struct SDMEvent: Encodable, Sendable, Equatable {
    /// What happened to one resource.
    public struct ResourceUpdate: Encodable, Sendable, Equatable {
        /// The device.
        public var name: String
        /// The events, by their names.
        public var events: [String: Happening]?
        /// The traits that have changed.
        public var traits: SDMTraits?
    }

    /// One event of a camera.
    public struct Happening: Encodable, Sendable, Equatable {
        /// The same for all events of one stay or press.
        public var eventSessionId: String
        /// Names the event, for its picture; nil for a clip.
        public var eventId: String?
        /// Where the clip is; nil for other events. The token of the API opens it.
        public var previewUrl: String?
    }

    /// A device that was added, removed or moved.
    public struct RelationUpdate: Encodable, Sendable, Equatable {
        /// `CREATED`, `UPDATED` or `DELETED`.
        public var type: String
        /// The room or the structure, or else the enterprise.
        public var subject: String
        /// The device.
        public var object: String
    }

    /// Names the message.
    public var eventId: String
    /// When it happened, in RFC 3339.
    public var timestamp: String
    public var resourceUpdate: ResourceUpdate?
    public var relationUpdate: RelationUpdate?
    /// The principal that gets the message.
    public var userId: String
    /// The same for the start and the end of one stay.
    public var eventThreadId: String?
    /// `STARTED` or `ENDED`.
    public var eventThreadState: String?
    public var resourceGroup: [String]?

    /// The message that a clip is there.
    /// - Parameter base: the address of the gateway.
    public init(_ clip: SDMClips.Clip, id: String, project: String, user: String, base: String) {
        self.eventId = id
        self.timestamp = Self.text(clip.endedAt)
        self.userId = user
        let resource = SDMDevice.name(of: clip.device, project: project)
        let range = "from=\(Self.text(clip.beganAt))&until=\(Self.text(clip.endedAt))"
        let happening = Happening(
            eventSessionId: clip.session, previewUrl: "\(base)/v1/devices/\(clip.device)/recordings/export.mp4?\(range)"
        )
        self.resourceUpdate = ResourceUpdate(
            name: resource, events: ["sdm.devices.events.CameraClipPreview.ClipPreview": happening])
        self.resourceGroup = [resource]
        self.eventThreadId = clip.session
    }

    /// The message that a device has moved.
    public init(moved device: String, to parent: SDMParent?, id: String, project: String, user: String, now: Date) {
        eventId = id
        timestamp = Self.text(now)
        userId = user
        relationUpdate = RelationUpdate(
            type: "UPDATED", subject: parent?.parent ?? "enterprises/\(project)",
            object: SDMDevice.name(of: device, project: project))
    }

    /// The message for a change of the home; nil for a change that the API does not report.
    public init?(_ event: HomeEvent, project: String, user: String, now: Date) {
        guard let change = event.change else { return nil }
        eventId = event.id
        timestamp = Self.text(now)
        userId = user
        switch change {
        case .device(let device):
            guard let described = SDMDevice(device, project: project) else { return nil }
            resourceUpdate = ResourceUpdate(name: described.name, traits: described.traits)
            resourceGroup = [described.name]
        case .deviceAdded(let device):
            guard let described = SDMDevice(device, project: project) else { return nil }
            relationUpdate = RelationUpdate(
                type: "CREATED", subject: "enterprises/\(project)", object: described.name)
        case .deviceRemoved(let device):
            relationUpdate = RelationUpdate(
                type: "DELETED", subject: "enterprises/\(project)",
                object: SDMDevice.name(of: device, project: project))
        case .doorbellPressed(let device, let time, _):
            take(
                "sdm.devices.events.DoorbellChime.Chime", of: device, session: event.id, at: time, project: project)
        case .detection(let device, let time, let detection):
            guard let name = Self.name(of: detection.kind) else { return nil }
            take(name, of: device, session: detection.eventSessionId, at: time, project: project)
            eventThreadId = detection.eventSessionId
            eventThreadState = detection.phase == .ended ? "ENDED" : "STARTED"
        default: return nil
        }
    }

    private mutating func take(_ name: String, of device: String, session: String, at time: Date, project: String) {
        let resource = SDMDevice.name(of: device, project: project)
        timestamp = Self.text(time)
        resourceUpdate = ResourceUpdate(
            name: resource, events: [name: Happening(eventSessionId: session, eventId: eventId)])
        resourceGroup = [resource]
    }

    /// The event for a kind of detection; nil for one that the API does not have.
    private static func name(of kind: DetectionKind) -> String? {
        switch kind {
        case .motion: "sdm.devices.events.CameraMotion.Motion"
        case .person: "sdm.devices.events.CameraPerson.Person"
        case .sound: "sdm.devices.events.CameraSound.Sound"
        default: nil
        }
    }

    /// A time as the API writes it.
    public static func text(_ time: Date) -> String {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        return formatter.string(from: time)
    }
}
