import HomeTypes
import PushAvStreamTransport

/// A device as the config describes it.
public struct DeviceDescription: Sendable, Hashable {
    /// The identifier, unique in the home.
    public var id: String
    /// What the config calls it; nil for a device that has only its identifier.
    public var key: String?
    /// The name that people read.
    public var name: String
    /// The device's type.
    public var kind: DeviceKind
    /// What the config wants of its own recording connection.
    public var recording: OwnConnection

    /// Describes a device.
    public init(
        id: String, key: String? = nil, name: String, kind: DeviceKind, recording: OwnConnection = OwnConnection()
    ) {
        self.recording = recording
        self.id = id
        self.key = key
        self.name = name
        self.kind = kind
    }
}
