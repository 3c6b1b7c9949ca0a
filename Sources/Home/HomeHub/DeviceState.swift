import HomeTypes

/// The live state of one device; a value that the hub keeps and that no one else sees.
struct DeviceState {
    var description: DeviceDescription
    let driver: (any CameraDriver)?
    private(set) var source: CameraSourceStatus
    private(set) var connectivity: ConnectivityState
    /// The state of the connection that delivers the camera's events; nil for a camera that has none.
    var eventSource: EventSourceStatus?
    /// What the camera detects now.
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

    /// Adopts a new source state.
    ///
    /// A source that is connecting keeps the connectivity that it had, so a device does not flicker between offline and
    /// unknown while the gateway retries its camera.
    mutating func update(_ status: CameraSourceStatus) {
        self.source = status
        switch status.state {
        case .flowing: self.connectivity = .online
        case .stalled, .backingOff, .givenUp, .stopped: self.connectivity = .offline
        case .idle, .resolving, .connecting, .authenticating, .describing, .settingUp: break
        }
    }

    /// Adopts a detection.
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
