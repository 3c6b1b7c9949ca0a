import HomeTypes
import PushAvStreamTransport

/// A device as the config or another origin describes it.
public struct DeviceDescription: Sendable, Hashable {
    /// The identifier, unique in the home.
    public var id: String
    /// What the config calls it; nil for a device that has only its identifier.
    public var key: String?
    /// The name that people read.
    public var name: String
    /// What kind of camera it is; nil for a device of another type, whose backend describes it.
    public var kind: DeviceKind?
    /// What the config wants of its own recording connection.
    public var recording: OwnConnection
    /// What its owner knows about it. It takes precedence over what the device reports.
    public var information = Matter.BasicInformationTrait.Attributes()
    /// Whether a camera rests while nobody needs it.
    public var isOnDemand = false
    /// Whether a camera runs on a battery.
    public var isOnBattery = false
    /// The parts of a device that is not a camera, as they are when it is added to the home. Later its backend reports
    /// them.
    public var endpoints: [EndpointDescription] = []

    /// Describes a device.
    public init(
        id: String, key: String? = nil, name: String, kind: DeviceKind? = nil,
        recording: OwnConnection = OwnConnection()
    ) {
        self.recording = recording
        self.id = id
        self.key = key
        self.name = name
        self.kind = kind
    }
}
