import Logging
import ServiceLifecycle
import Signalling

/// The floors below the home, as the gateway needs them: who serves live views, and the cameras' drivers.
public struct MediaComposition: Sendable {
    /// Who serves live views.
    public var liveView: any LiveViewServing
    /// Who runs the cameras.
    public var cameras: any CameraRunning
    /// What has to run beside the gateway; stopped after it.
    public var services: [any Service]
    /// Metrics of the floors below.
    public var metrics: @Sendable () async -> [MetricFamily]

    /// Names the parts.
    public init(
        liveView: any LiveViewServing, cameras: any CameraRunning, services: [any Service] = [],
        metrics: @escaping @Sendable () async -> [MetricFamily] = { [] }
    ) {
        self.liveView = liveView
        self.cameras = cameras
        self.services = services
        self.metrics = metrics
    }
}
