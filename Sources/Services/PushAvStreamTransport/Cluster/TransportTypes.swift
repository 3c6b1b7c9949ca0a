import HomeTypes

/// What a connection records, when, and where it sends the recordings.
public typealias TransportOptions = Google.PushAvStreamTransportTrait.TransportOptionsStruct
/// The same options, of which only those that are present count.
public typealias PartialTransportOptions = Google.PushAvStreamTransportTrait.PartialTransportOptionsStruct
/// A connection as clients see it.
public typealias TransportConfiguration = Google.PushAvStreamTransportTrait.TransportConfigurationStruct
/// Whether a connection can transport.
public typealias TransportStatus = Google.PushAvStreamTransportTrait.TransportStatusEnum
/// What begins a recording.
public typealias TransportTriggerType = Google.PushAvStreamTransportTrait.TransportTriggerTypeEnum
/// What starts a recording, and how long it lasts.
public typealias TransportTriggerOptions = Google.PushAvStreamTransportTrait.TransportTriggerOptionsStruct
/// How long a recording lasts.
public typealias TransportTimeControl = Google.PushAvStreamTransportTrait.TransportMotionTriggerTimeControlStruct
/// A zone whose motion starts recordings.
public typealias TransportZone = Google.PushAvStreamTransportTrait.TransportZoneOptionsStruct
/// Why a command began a recording.
public typealias TriggerActivationReason = Google.PushAvStreamTransportTrait.TriggerActivationReasonEnum
/// What a stream is used for.
public typealias StreamUsage = Google.PushAvStreamTransportTrait.StreamUsageEnum

/// A recording connection of a camera.
public struct TransportConnection: Codable, Equatable, Sendable {
    /// Its number, from 1.
    public var id: UInt16
    /// Whether it can transport.
    public var status: TransportStatus
    /// Its options, with both forms of the streams.
    public var options: TransportOptions
    /// The principal that made it; nil for the camera's own connection, which everybody may use and nobody may remove.
    public var owner: String?
    /// When it expires, in milliseconds since 1970, UTC; nil for one that does not expire.
    public var expiry: Int64?
    /// Whether another principal switched it off together with the camera. It is active again when the camera is.
    public var isSuspended = false

    /// Whether it is the camera's own connection.
    public var isPermanent: Bool { owner == nil }

    /// The connection as clients see it.
    public func configuration(withOptions: Bool) -> TransportConfiguration {
        TransportConfiguration(
            connectionID: id, transportStatus: status, transportOptions: withOptions ? options : nil)
    }
}

/// The privacy switches of a camera (Matter 1.5, Camera AV Stream Management).
public struct PrivacySwitches: Codable, Hashable, Sendable {
    /// Refuses recording and analysis.
    public var softRecording = false
    /// Refuses live views.
    public var softLivestream = false
    /// Refuses both. A switch on the camera sets it. The camera reports it, and apps can only read it.
    public var hard = false
    /// Sound of the camera is not sent, live or recorded.
    public var microphoneMuted = false
    /// No sound of the camera is recorded.
    public var recordingMicrophoneMuted = false

    /// All switches are off.
    public init() {}

    private enum CodingKeys: String, CodingKey {
        case softRecording, softLivestream, hard, microphoneMuted, recordingMicrophoneMuted
    }

    /// What an earlier version of the gateway has kept does not contain the later switches.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        softRecording = try container.decode(Bool.self, forKey: .softRecording)
        softLivestream = try container.decode(Bool.self, forKey: .softLivestream)
        hard = try container.decode(Bool.self, forKey: .hard)
        microphoneMuted = try container.decodeIfPresent(Bool.self, forKey: .microphoneMuted) ?? false
        recordingMicrophoneMuted = try container.decodeIfPresent(Bool.self, forKey: .recordingMicrophoneMuted) ?? false
    }

    /// Whether they refuse a usage.
    public func refuse(_ usage: StreamUsage) -> Bool {
        switch usage {
        case .recording, .analysis: hard || softRecording
        case .liveView: hard || softLivestream
        case .internal, .unrecognized_: hard
        }
    }
}
