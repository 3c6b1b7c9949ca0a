import HomeTypes

/// The live state of one device. The hub keeps it, and nothing else sees it.
struct DeviceState {
    private(set) var description: DeviceDescription
    /// Its name and its place, if somebody has set them.
    var record: DeviceRecord?
    let backend: (any DeviceBackend)?
    /// The state of a camera; nil for other devices.
    private(set) var camera: CameraState?
    /// Its parts, by their numbers. A camera has a root node and one endpoint.
    private var endpoints: [UInt16: EndpointDescription] = [:]

    /// The endpoint that has a camera's traits.
    static let cameraEndpoint: UInt16 = 1

    init(description: DeviceDescription, record: DeviceRecord? = nil, backend: (any DeviceBackend)?) {
        self.description = description
        self.record = record
        self.backend = backend
        if description.kind != nil { self.camera = CameraState(isConnected: backend != nil) }
        self.endpoints = Dictionary(description.endpoints.map { ($0.id, $0) }) { first, _ in first }
        self.description.endpoints = []
        describeCamera()
    }

    /// The backend of a camera; nil for another device, and for a camera without one.
    var driver: (any CameraDriver)? { backend?.cameraDriver }

    /// Adopts another description.
    mutating func update(_ description: DeviceDescription) {
        self.description = description
        self.description.endpoints = []
        describeCamera()
    }

    /// Gives a camera the endpoints and traits that its description calls for.
    private mutating func describeCamera() {
        guard let kind = description.kind, let camera else { return }
        let connectivity = SourceConnectivity(
            connectivityState: camera.connectivity, dataSourceLocality: backend == nil ? .unspecified : .localPeer)
        var main = endpoints[Self.cameraEndpoint] ?? EndpointDescription(id: Self.cameraEndpoint, types: [])
        main.types = [kind.rawValue]
        main.connectivity = connectivity
        main.traits[Google.WebRtcLiveViewTrait.self] = .init()
        if main.traits[Google.PushAvStreamTransportTrait.self] == nil {
            main.traits[Google.PushAvStreamTransportTrait.self] = .init(attributes: .init(currentConnections: []))
        }
        main.traits[Google.DoorbellPressTrait.self] = kind == .doorbell ? .init() : nil
        main.traits[Google.CameraSnapshotTrait.self] = .init()
        endpoints[Self.cameraEndpoint] = main
        var root = EndpointDescription(id: EndpointDescription.root, types: [RootNodeDeviceType.self])
        root.connectivity = connectivity
        var information = Matter.BasicInformationTrait.Attributes(
            describing: description.id, name: description.name, by: camera.eventSource)
        information.merge(description.information)
        root.traits[Matter.BasicInformationTrait.self] = .init(attributes: information)
        endpoints[EndpointDescription.root] = root
    }

    /// Adopts traits of a camera with all of their attributes.
    mutating func update(_ traits: TraitCollection) {
        for trait in traits.all { endpoints[Self.cameraEndpoint]?.traits.set(trait) }
    }

    /// Adopts a new state of a camera.
    mutating func updateCamera(_ body: (inout CameraState) -> Void) {
        guard var camera else { return }
        body(&camera)
        self.camera = camera
        describeCamera()
    }

    /// Adopts what a backend reports of a device that is not a camera.
    mutating func update(_ update: DeviceUpdate) {
        switch update {
        case .endpoints(let list):
            endpoints = Dictionary(list.map { ($0.id, $0) }) { first, _ in first }
            if camera != nil { describeCamera() }
        case .report(let endpoint, let traits): endpoints[endpoint]?.traits.merge(traits)
        case .connectivity(let endpoint, let connectivity):
            for id in endpoint.map({ [$0] }) ?? Array(endpoints.keys) { endpoints[id]?.connectivity = connectivity }
        case .traitConnectivity(let endpoint, let trait, let connectivity):
            endpoints[endpoint]?.traitConnectivity[trait] = connectivity
        case .together(let updates): for update in updates { self.update(update) }
        case .event, .source, .doorbellPressed, .detection, .eventSource, .attributes, .settings: break
        }
    }

    var snapshot: DeviceSnapshot {
        DeviceSnapshot(
            id: description.id, key: description.key, name: name, structureID: record?.structureID,
            roomID: record?.roomID,
            endpoints: endpoints.values.sorted { $0.id < $1.id }.map { currentEndpoint($0).snapshot },
            source: source, eventSource: camera?.eventSource,
            activeDetections: camera.map { camera in DetectionKind.allCases.filter { camera.active.contains($0) } })
    }

    /// What a camera's source does, with what its settings say about it.
    private var source: CameraSourceStatus? {
        guard var source = camera?.source else { return nil }
        source.isOnDemand = description.isOnDemand ? true : nil
        source.isOnBattery = description.isOnBattery ? true : nil
        return source
    }

    /// The name that people read.
    private var name: String { record?.name ?? description.name }

    /// An endpoint as it is now. A camera's speaker is discovered while the camera connects, or later.
    private func currentEndpoint(_ endpoint: EndpointDescription) -> EndpointDescription {
        if endpoint.traits[Matter.BasicInformationTrait.self]?.nodeLabel != nil {
            var endpoint = endpoint
            endpoint.traits[Matter.BasicInformationTrait.self]?.nodeLabel = name.cut(toBytes: 32)
            return endpoint
        }
        guard camera != nil, endpoint.id == Self.cameraEndpoint else { return endpoint }
        let hasSpeaker = driver?.hasSpeaker == true
        var endpoint = endpoint
        endpoint.traits[Google.WebRtcLiveViewTrait.self]?.acceptedCommandList = Self.liveViewCommands(hasSpeaker)
        if let settings = camera?.settings {
            var streams = endpoint.traits[Google.CameraAvStreamManagementTrait.self] ?? .init()
            streams.attributes.merge(settings)
            endpoint.traits[Google.CameraAvStreamManagementTrait.self] = streams
        }
        guard hasSpeaker, let driver else { return endpoint }
        endpoint.traits[Google.ChimeTrait.self] = Google.ChimeTrait(driver.sounds, record?.chime)
        endpoint.traits[Google.WebRtcLiveViewTrait.self]?.supportedTalkbackType = .directly
        return endpoint
    }

    /// What a camera's live view accepts. Without a speaker nobody can talk through it.
    private static func liveViewCommands(_ hasSpeaker: Bool) -> [UInt32] {
        typealias Live = Google.WebRtcLiveViewTrait
        let talk: [any Command.Type] = [Live.StartTalkbackCommand.self, Live.StopTalkbackCommand.self]
        return Live.supportedCommandTypes.filter { command in hasSpeaker || !talk.contains { $0 == command } }
            .map { $0.id }
    }
}

/// What only a camera has.
struct CameraState {
    private(set) var source: CameraSourceStatus
    private(set) var connectivity: ConnectivityState
    /// The state of the connection that delivers the camera's events; nil for a camera without one.
    var eventSource: EventSourceStatus?
    /// The settings that the camera itself keeps; nil for one that keeps none, or has not answered yet.
    var settings: Google.CameraAvStreamManagementTrait.Attributes?
    /// What the camera detects now.
    private(set) var active: Set<DetectionKind> = []

    init(isConnected: Bool) {
        self.source =
            isConnected
            ? CameraSourceStatus(state: .idle)
            : CameraSourceStatus(state: .stopped, reason: "no camera is connected to this device", cause: .other)
        self.connectivity = isConnected ? .unknown : .offline
    }

    /// Adopts a new source state.
    ///
    /// A camera on demand counts as online while it rests, unless its last attempt failed: apps wait for `online` before they
    /// start a live view, which is what wakes it. A source that is connecting keeps the connectivity that it had, so a device does not flicker between offline and
    /// unknown while the gateway retries its camera.
    mutating func update(_ status: CameraSourceStatus, isOnDemand: Bool) {
        source = status
        switch status.state {
        case .flowing: connectivity = .online
        case .stalled, .backingOff, .givenUp, .stopped: connectivity = .offline
        case .idle where isOnDemand && connectivity == .unknown: connectivity = .online
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
}
