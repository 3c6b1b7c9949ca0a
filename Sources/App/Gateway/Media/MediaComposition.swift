import Logging
import ServiceLifecycle
import Signalling

/// The floors below the home, as the gateway needs them: the live-view service, and the cameras' drivers.
public struct MediaComposition: Sendable {
    /// Serves live views.
    public var liveView: any SignallingServing
    /// Runs the cameras.
    public var cameras: any CameraRunning
    /// Services that run alongside the gateway and are stopped after it.
    public var services: [any Service]
    /// Metrics of the floors below.
    public var metrics: @Sendable () async -> [MetricFamily]

    /// Names the parts.
    public init(
        liveView: any SignallingServing, cameras: any CameraRunning, services: [any Service] = [],
        metrics: @escaping @Sendable () async -> [MetricFamily] = { [] }
    ) {
        self.liveView = liveView
        self.cameras = cameras
        self.services = services
        self.metrics = metrics
    }
}
