/// The traits of a device by their names on the wire; a trait that the device lacks is left out.
public struct DeviceTraits: Sendable, Codable, Hashable {
    /// Live view.
    public var webRtcLiveView: Google.WebRtcLiveViewTrait?
    /// Recording connections.
    public var pushAvStreamTransport: Google.PushAvStreamTransportTrait?
    /// The button.
    public var doorbellPress: Google.DoorbellPressTrait?

    enum CodingKeys: String, CodingKey {
        case webRtcLiveView = "WebRtcLiveView"
        case pushAvStreamTransport = "PushAvStreamTransport"
        case doorbellPress = "DoorbellPress"
    }

    /// Describes the traits of a device.
    public init(
        webRtcLiveView: Google.WebRtcLiveViewTrait? = nil,
        pushAvStreamTransport: Google.PushAvStreamTransportTrait? = nil,
        doorbellPress: Google.DoorbellPressTrait? = nil
    ) {
        self.webRtcLiveView = webRtcLiveView
        self.pushAvStreamTransport = pushAvStreamTransport
        self.doorbellPress = doorbellPress
    }

    /// All traits that the device has.
    public var all: [any Trait] {
        let traits: [(any Trait)?] = [self.webRtcLiveView, self.pushAvStreamTransport, self.doorbellPress]
        return traits.compactMap { $0 }
    }

    /// The trait of this name, or nil when the device lacks it.
    public subscript(name: String) -> (any Trait)? {
        self.all.first { type(of: $0).name == name }
    }
}

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
    public var traits: DeviceTraits

    /// Describes a device.
    public init(
        id: String, name: String, type: DeviceKind, connectivity: SourceConnectivity, source: CameraSourceStatus,
        eventSource: EventSourceStatus? = nil, activeDetections: [DetectionKind] = [], traits: DeviceTraits
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
