import Logging
import ServiceLifecycle
import Signalling

/// The floors below the home, as the gateway needs them: the signalling services, and the cameras' drivers.
public struct MediaComposition: Sendable {
    /// Live views, talks, clips, publishers and pictures.
    public var signalling: SignallingServices
    /// Runs the cameras.
    public var cameras: any CameraRunning
    /// Services that run alongside the gateway and are stopped after it.
    public var services: [any Service]
    /// Metrics of the floors below.
    public var metrics: @Sendable () async -> [MetricFamily]

    /// Names the parts.
    public init(
        signalling: SignallingServices, cameras: any CameraRunning, services: [any Service] = [],
        metrics: @escaping @Sendable () async -> [MetricFamily] = { [] }
    ) {
        self.signalling = signalling
        self.cameras = cameras
        self.services = services
        self.metrics = metrics
    }
}
