import Foundation

/// A detection by a camera.
public struct DetectionEvent: Sendable, Codable, Hashable {
    /// The phase of a detection.
    public typealias Phase = DetectionPhase

    /// What was detected.
    public var kind: DetectionKind
    /// The phase of the detection.
    public var phase: DetectionPhase
    /// The same for the start and the end of one stay, as `eventSessionId` of the Smart Device Management API.
    public var eventSessionId: String
    /// When it happened by the camera's clock, which may be wrong; nil if the camera did not report it.
    public var cameraTimestamp: Date?

    /// Describes a detection.
    public init(kind: DetectionKind, phase: DetectionPhase, eventSessionId: String, cameraTimestamp: Date? = nil) {
        self.kind = kind
        self.phase = phase
        self.eventSessionId = eventSessionId
        self.cameraTimestamp = cameraTimestamp
    }
}

/// A device's event as it is kept; `GET /v1/devices/{id}/events` lists these.
public struct DeviceEvent: Sendable, Codable, Hashable, Identifiable {
    /// The event's identifier, which is also its place in `/v1/events`. For a token that may not read the whole home, the
    /// `id` there is longer, and begins with this.
    public var id: String
    /// The device.
    public var deviceID: String
    /// The trait that the event belongs to, for example `DoorbellPress`.
    public var trait: String
    /// The event's name, for example `DoorbellPressed`.
    public var event: String
    /// When it happened by the gateway's clock.
    public var timestamp: Date
    /// When it happened by the camera's clock.
    public var cameraTimestamp: Date?
    /// The phase of a detection.
    public var phase: DetectionPhase?
    /// The same for the start and the end of one stay.
    public var eventSessionId: String?
    /// The ring tone that goes with a press.
    public var complementaryToneId: String?
    /// The length of a press in seconds.
    public var doorbellPressTimeSeconds: Int64?
    /// The priority of a press.
    public var priority: Int64?
    /// The connection of a recording.
    public var connectionID: UInt16?
    /// What began a recording.
    public var triggerType: Google.PushAvStreamTransportTrait.TransportTriggerTypeEnum?
    /// Why a command began a recording.
    public var activationReason: Google.PushAvStreamTransportTrait.TriggerActivationReasonEnum?
    /// The container of a recording.
    public var containerType: Google.PushAvStreamTransportTrait.ContainerFormatEnum?
    /// The number of a recording's session.
    public var cmafSessionNumber: UInt64?

    /// The beginning of a recording.
    public init(
        id: String, deviceID: String, at timestamp: Date,
        _ begin: Google.PushAvStreamTransportTrait.PushTransportBeginEvent
    ) {
        self.id = id
        self.deviceID = deviceID
        self.trait = Google.PushAvStreamTransportTrait.name
        self.event = Google.PushAvStreamTransportTrait.PushTransportBeginEvent.name
        self.timestamp = timestamp
        self.connectionID = begin.connectionID
        self.triggerType = begin.triggerType
        self.activationReason = begin.activationReason
        self.containerType = begin.containerType
        self.cmafSessionNumber = begin.cmafSessionNumber
    }

    /// The end of a recording.
    public init(
        id: String, deviceID: String, at timestamp: Date,
        _ end: Google.PushAvStreamTransportTrait.PushTransportEndEvent
    ) {
        self.id = id
        self.deviceID = deviceID
        trait = Google.PushAvStreamTransportTrait.name
        event = Google.PushAvStreamTransportTrait.PushTransportEndEvent.name
        self.timestamp = timestamp
        connectionID = end.connectionID
        containerType = end.containerType
        cmafSessionNumber = end.cmafSessionNumber
    }

    /// A press.
    public init(
        id: String, deviceID: String, at timestamp: Date, _ press: Google.DoorbellPressTrait.DoorbellPressedEvent
    ) {
        self.id = id
        self.deviceID = deviceID
        trait = Google.DoorbellPressTrait.name
        event = Google.DoorbellPressTrait.DoorbellPressedEvent.name
        self.timestamp = timestamp
        complementaryToneId = press.complementaryToneId
        doorbellPressTimeSeconds = press.doorbellPressTimeSeconds
        priority = press.priority
    }

    /// A detection.
    public init(id: String, deviceID: String, at timestamp: Date, _ detection: DetectionEvent) {
        self.id = id
        self.deviceID = deviceID
        trait = detection.kind.traitName
        event = detection.kind.eventName
        self.timestamp = timestamp
        cameraTimestamp = detection.cameraTimestamp
        phase = detection.phase
        eventSessionId = detection.eventSessionId
    }
}

extension ReportedEventKind {
    /// The matching detection; nil for a press.
    public var detection: DetectionKind? { DetectionKind(rawValue: rawValue) }
}

/// An event that somebody reports for a device: the body of `POST /v1/devices/{id}/events`.
public struct ReportedEvent: Sendable, Codable, Hashable {
    /// What can be reported.
    public typealias Kind = ReportedEventKind

    /// What happened.
    public var type: Kind
    /// Whether it is present now; absent for a momentary event. A privacy switch is on or off, and must say which.
    public var active: Bool?
    /// The ring tone that goes with a press.
    public var complementaryToneId: String?
    /// The length of a press in seconds.
    public var doorbellPressTimeSeconds: Int64?
    /// The priority of a press.
    public var priority: Int64?

    /// Describes an event.
    public init(type: Kind, active: Bool? = nil) {
        self.type = type
        self.active = active
    }
}

/// The state of the connection that delivers a camera's events.
public struct EventSourceStatus: Sendable, Codable, Hashable {
    /// The state itself.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// Not subscribed yet.
        case connecting
        /// Subscribed: events arrive.
        case subscribed
        /// The last attempt failed, and the next one has not begun.
        case backingOff
        case stopped
    }

    /// The state itself.
    public var state: State
    /// Why events do not arrive, if there is a reason. It never contains a password.
    public var trouble: SourceTrouble?
    /// The same as a text.
    public var reason: String? { trouble?.words }
    /// The device's vendor, once it is known.
    public var manufacturer: String?
    /// The device's model, once it is known.
    public var model: String?
    /// The version of the device's firmware, once it is known.
    public var firmwareVersion: String?
    /// The device's serial number, once it is known.
    public var serialNumber: String?
    /// The version of the device's hardware, once it is known.
    public var hardwareVersion: String?

    private enum CodingKeys: String, CodingKey {
        case state, manufacturer, model, firmwareVersion, serialNumber, hardwareVersion
        case trouble = "reason"
    }

    /// Describes a connection with a reason that is the same for each attempt.
    public init(state: State, reason: String? = nil, manufacturer: String? = nil, model: String? = nil) {
        self.init(state: state, trouble: reason.map { SourceTrouble($0) })
        self.manufacturer = manufacturer
        self.model = model
    }

    /// Describes a connection.
    public init(state: State, trouble: SourceTrouble?) {
        self.state = state
        self.trouble = trouble
    }
}
