/// The present state of a device: the response of `GET /v1/devices/{id}`. Values that describe the same state are
/// equal.
public struct DeviceSnapshot: Sendable, Codable, Hashable, Identifiable {
    /// The identifier in the config.
    public var id: String
    /// The name that people read.
    public var name: String
    /// The device's type.
    public var type: DeviceKind
    /// The scoped identifier of the type.
    public var typeIdentifier: String
    /// Whether the device can be reached.
    public var connectivityState: ConnectivityState
    /// How it is reached.
    public var dataSourceLocality: LocalityType
    /// What its source is doing.
    public var source: CameraSourceStatus
    /// The state of the connection that delivers its events; nil for a device that has none.
    public var eventSource: EventSourceStatus?
    /// What it detects right now.
    public var activeDetections: [DetectionKind]
    /// Its traits.
    public var traits: TraitCollection

    /// Describes a device.
    public init(
        id: String, name: String, type: DeviceKind, connectivity: SourceConnectivity, source: CameraSourceStatus,
        eventSource: EventSourceStatus? = nil, activeDetections: [DetectionKind] = [], traits: TraitCollection
    ) {
        self.id = id
        self.name = name
        self.type = type
        self.typeIdentifier = type.type.identifier
        self.connectivityState = connectivity.connectivityState
        self.dataSourceLocality = connectivity.dataSourceLocality
        self.source = source
        self.eventSource = eventSource
        self.activeDetections = activeDetections
        self.traits = traits
    }
}
