import Logging
import ServiceLifecycle
import Signalling
import Stations

/// The floors below the home, as the gateway needs them: the signalling services, and the cameras' drivers.
public struct MediaComposition: Sendable {
    /// Live views, talks, clips, publishers and pictures.
    public var signalling: SignallingServices
    /// Runs the cameras.
    public var cameras: any CameraRunning
    /// The recordings; nil if the config asks for none.
    public var recording: RecordingComposition?
    /// Switches the cameras' outputs; nil for cameras that cannot be switched.
    public var outputs: CameraOutputs?
    /// Live streams for players without WebRTC; nil for cameras that have none.
    public var live: LiveCameras?
    /// Services that run alongside the gateway and are stopped after it.
    public var services: [any Service]
    /// Metrics of the floors below.
    public var metrics: @Sendable () async -> [MetricFamily]

    /// Which outputs of a device are allowed; nil when nothing decides about it.
    public var permits: @Sendable (_ device: String) async -> OutputPermits?

    /// What the media port knows of the network.
    public var network: @Sendable () -> NetworkFacts?

    /// Names the parts.
    public init(
        signalling: SignallingServices, cameras: any CameraRunning, recording: RecordingComposition? = nil,
        outputs: CameraOutputs? = nil, live: LiveCameras? = nil, services: [any Service] = [],
        metrics: @escaping @Sendable () async -> [MetricFamily] = { [] },
        permits: @escaping @Sendable (_ device: String) async -> OutputPermits? = { _ in nil },
        network: @escaping @Sendable () -> NetworkFacts? = { nil }
    ) {
        self.signalling = signalling
        self.cameras = cameras
        self.recording = recording
        self.outputs = outputs
        self.live = live
        self.services = services
        self.metrics = metrics
        self.permits = permits
        self.network = network
    }
}
