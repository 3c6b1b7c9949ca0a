/// The present state of a device: the response of `GET /v1/devices/{id}`. Values that describe the same state are
/// equal.
public struct DeviceSnapshot: Sendable, Codable, Hashable, Identifiable {
    /// The identifier, which stays for the device's whole life.
    public var id: String
    /// What the config calls it; nil for a device that has only its identifier.
    public var key: String?
    /// The name that people read.
    public var name: String
    /// The device's type.
    public var type: DeviceKind
    /// The scoped identifier of the type.
    public var typeIdentifier: String
    /// The structure that it is in.
    public var structureID: String?
    /// The room that it is in; nil for none.
    public var roomID: String?
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
        id: String, key: String? = nil, name: String, type: DeviceKind, structureID: String? = nil,
        roomID: String? = nil, connectivity: SourceConnectivity, source: CameraSourceStatus,
        eventSource: EventSourceStatus? = nil, activeDetections: [DetectionKind] = [], traits: TraitCollection
    ) {
        self.id = id
        self.key = key
        self.structureID = structureID
        self.roomID = roomID
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
