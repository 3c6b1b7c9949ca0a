import HomeTypes

/// The live state of one device; a value that the hub keeps and that no one else sees.
struct DeviceState {
    var description: DeviceDescription
    let driver: (any CameraDriver)?
    private(set) var source: CameraSourceStatus
    private(set) var connectivity: ConnectivityState
    /// How the connection stands that brings the camera's events; nil for a camera that has none.
    var eventSource: EventSourceStatus?
    /// What is there now.
    private var active: Set<DetectionKind> = []

    init(description: DeviceDescription, driver: (any CameraDriver)?) {
        self.description = description
        self.driver = driver
        if driver == nil {
            self.source = CameraSourceStatus(state: .stopped, reason: "no camera is connected to this device")
            self.connectivity = .offline
        } else {
            self.source = CameraSourceStatus(state: .idle)
            self.connectivity = .unknown
        }
    }

    /// Takes a new source state over.
    ///
    /// A source that is on its way to flowing keeps the connectivity that it had, so that a device does not flicker
    /// between offline and unknown while its camera is tried again and again.
    mutating func update(_ status: CameraSourceStatus) {
        self.source = status
        switch status.state {
        case .flowing: self.connectivity = .online
        case .stalled, .backingOff, .givenUp, .stopped: self.connectivity = .offline
        case .idle, .resolving, .connecting, .authenticating, .describing, .settingUp: break
        }
    }

    /// Takes a detection over.
    mutating func update(_ detection: DetectionEvent) {
        switch detection.phase {
        case .began: self.active.insert(detection.kind)
        case .ended: self.active.remove(detection.kind)
        case .momentary: break
        }
    }

    var snapshot: DeviceSnapshot {
        let hasSpeaker = self.driver?.hasSpeaker ?? false
        return DeviceSnapshot(
            id: self.description.id, name: self.description.name, type: self.description.kind,
            connectivity: SourceConnectivity(
                connectivityState: self.connectivity,
                dataSourceLocality: self.driver == nil ? .unspecified : .localPeer),
            source: self.source, eventSource: self.eventSource,
            activeDetections: DetectionKind.allCases.filter { self.active.contains($0) },
            traits: DeviceTraits(
                webRtcLiveView: Google.WebRtcLiveViewTrait(supportedTalkbackType: hasSpeaker ? .directly : nil),
                pushAvStreamTransport: Google.PushAvStreamTransportTrait(),
                doorbellPress: self.description.kind == .doorbell ? Google.DoorbellPressTrait() : nil))
    }
}
