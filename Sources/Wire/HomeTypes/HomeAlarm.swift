import Foundation

/// Something that the owner must know, because footage is lost or will be lost unless somebody acts, or because an
/// automation does not do what it should: the data of the event `alarm`.
public struct HomeAlarm: Sendable, Codable, Hashable {
    /// What is wrong.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// The disk is full: nothing is recorded.
        case recordingStorageFull
        /// The disk reports errors: nothing is recorded.
        case recordingStorageFailing
        /// A camera that should be recorded is not recorded.
        case recordingStopped
        /// Recordings of a camera cannot be uploaded.
        case uploadFailing
        /// The queue of uploads has reached its limit: the oldest footage leaves it.
        case uploadQueueFull
        /// The queue of uploads cannot be written to the disk.
        case uploadQueueNotKept
        /// The file of the upload endpoints cannot be used: uploads to them wait.
        case uploadEndpointsLost
        /// Segments of a camera will never be uploaded.
        case segmentsLost
        /// The recording connections of a camera cannot be written to the disk: a command that changes them is refused.
        case recordingConnectionsNotKept
        /// The recording connections of a camera cannot be read: it started switched off, with only its own connection.
        case recordingConnectionsLost
        /// Tokens cannot be read: they do not work, and nothing is uploaded for their holders.
        case tokensUnreadable
        /// Runs of automations cannot be recorded: none of them sends a command.
        case automationStorageFailing
        /// An automation starts too often. It is paused until a person releases it.
        case automationPaused
    }

    /// Whether it lasts.
    public enum State: String, Sendable, Codable, CaseIterable {
        /// It has begun. Another alarm of the same kind for the same device replaces it.
        case raised
        /// It is over.
        case cleared
        /// It has happened, and has no end.
        case occurred
    }

    /// What is wrong.
    public var kind: Kind
    /// Whether it lasts.
    public var state: State
    /// The device; nil for all of them.
    public var deviceID: String?
    /// The automation; nil for an alarm about something else.
    public var automationID: String?
    /// The structure of the automation.
    public var structureID: String?
    /// The principal to whom the automation belongs.
    public var owner: String?
    /// In words for the owner.
    public var reason: String
    /// How many segments it is about, where they are counted.
    public var segments: Int?
    /// When, by the gateway's clock.
    public var timestamp: Date

    /// Describes an alarm.
    public init(
        _ kind: Kind, _ state: State, of deviceID: String? = nil, automation automationID: String? = nil,
        reason: String, segments: Int? = nil, at timestamp: Date
    ) {
        self.kind = kind
        self.state = state
        self.deviceID = deviceID
        self.automationID = automationID
        self.reason = reason
        self.segments = segments
        self.timestamp = timestamp
    }

    /// The same alarm at its end.
    public func cleared(because reason: String, at timestamp: Date) -> HomeAlarm {
        var alarm = self
        alarm.state = .cleared
        alarm.reason = reason
        alarm.timestamp = timestamp
        return alarm
    }
}
