import HomeTypes

/// The live state of one device; a value that the hub keeps and that no one else sees.
struct DeviceState {
    private(set) var description: DeviceDescription
    /// Its name and its place, as far as somebody has set them.
    var record: DeviceRecord?
    let driver: (any CameraDriver)?
    private(set) var source: CameraSourceStatus
    private(set) var connectivity: ConnectivityState
    /// The state of the connection that delivers the camera's events; nil for a camera that has none.
    var eventSource: EventSourceStatus?
    /// The traits with their attributes.
    private(set) var traits: TraitCollection
    /// What the camera detects now.
    private var active: Set<DetectionKind> = []

    init(description: DeviceDescription, record: DeviceRecord? = nil, driver: (any CameraDriver)?) {
        self.description = description
        self.record = record
        self.driver = driver
        self.traits = TraitCollection()
        if driver == nil {
            self.source = CameraSourceStatus(state: .stopped, reason: "no camera is connected to this device")
            self.connectivity = .offline
        } else {
            self.source = CameraSourceStatus(state: .idle)
            self.connectivity = .unknown
        }
        self.setCameraTraits()
    }

    /// Gives the device the traits that its description calls for.
    private mutating func setCameraTraits() {
        traits[Google.WebRtcLiveViewTrait.self] = .init()
        if traits[Google.PushAvStreamTransportTrait.self] == nil {
            traits[Google.PushAvStreamTransportTrait.self] = .init(attributes: .init(currentConnections: []))
        }
        traits[Google.DoorbellPressTrait.self] = description.kind == .doorbell ? .init() : nil
    }

    /// Adopts another description.
    mutating func update(_ description: DeviceDescription) {
        self.description = description
        setCameraTraits()
    }

    /// Adopts the attributes of some traits.
    mutating func update(_ traits: TraitCollection) {
        for trait in traits.all { self.traits.set(trait) }
    }

    /// Adopts a new source state.
    ///
    /// A source that is connecting keeps the connectivity that it had, so a device does not flicker between offline and
    /// unknown while the gateway retries its camera.
    mutating func update(_ status: CameraSourceStatus) {
        source = status
        switch status.state {
        case .flowing: connectivity = .online
        case .stalled, .backingOff, .givenUp, .stopped: connectivity = .offline
        case .idle, .resolving, .connecting, .authenticating, .describing, .settingUp: break
        }
    }

    /// Adopts a detection.
    mutating func update(_ detection: DetectionEvent) {
        switch detection.phase {
        case .began: active.insert(detection.kind)
        case .ended: active.remove(detection.kind)
        case .momentary, .unrecognized_: break
        }
    }

    var snapshot: DeviceSnapshot {
        DeviceSnapshot(
            id: description.id, key: description.key, name: record?.name ?? description.name, type: description.kind,
            structureID: record?.structureID, roomID: record?.roomID,
            connectivity: SourceConnectivity(
                connectivityState: connectivity,
                dataSourceLocality: driver == nil ? .unspecified : .localPeer),
            source: source, eventSource: eventSource,
            activeDetections: DetectionKind.allCases.filter { active.contains($0) },
            traits: currentTraits)
    }

    /// The traits as they are now. A camera's speaker is found while the camera connects, or later.
    private var currentTraits: TraitCollection {
        var traits = self.traits
        traits[Google.WebRtcLiveViewTrait.self]?.supportedTalkbackType =
            driver?.hasSpeaker == true ? .directly : nil
        return traits
    }
}
