import HomeHub
import HomeTypes
import Logging
import ServiceLifecycle
import Signalling

/// The floors below the home, as the gateway needs them: who serves live views, and the cameras' drivers.
public struct MediaComposition: Sendable {
    /// Who serves live views.
    public var liveView: any LiveViewServing
    /// One driver for each camera of the config.
    public var drivers: [any CameraDriver]
    /// What has to run beside the gateway; stopped after it.
    public var services: [any Service]
    /// Metrics of the floors below.
    public var metrics: @Sendable () async -> [MetricFamily]

    /// Names the parts.
    public init(
        liveView: any LiveViewServing, drivers: [any CameraDriver], services: [any Service] = [],
        metrics: @escaping @Sendable () async -> [MetricFamily] = { [] }
    ) {
        self.liveView = liveView
        self.drivers = drivers
        self.services = services
        self.metrics = metrics
    }

    /// Makes the cameras, the relay and the signalling service that the config asks for.
    public static func make(
        configuration: GatewayConfiguration, stateDirectory: StateDirectory, logger: Logger
    ) async throws -> MediaComposition {
        // The media floors are joined here once they stand; until then devices are offline, and a start says why.
        logger.warning("this build has no media yet: devices are offline")
        return MediaComposition(liveView: AbsentLiveView(), drivers: [])
    }
}

/// Serves nothing, and says so.
struct AbsentLiveView: LiveViewServing {
    private static let error = SignallingError.cameraUnavailable("this build of the gateway has no media yet")

    func startLiveView(_ request: StartLiveViewRequest) async throws(SignallingError) -> StartLiveViewResponse {
        throw Self.error
    }

    func extendLiveView(
        mediaSessionId: String, principal: String, extendedDurationSeconds: UInt16?
    ) async throws(SignallingError) -> UInt16 {
        throw .unknownSession
    }

    func stopLiveView(mediaSessionId: String, principal: String) async throws(SignallingError) {
        throw .unknownSession
    }

    func startTalkback(mediaSessionId: String, principal: String, offerSdp: String?) async throws(SignallingError) {
        throw .unknownSession
    }

    func stopTalkback(mediaSessionId: String, principal: String) async throws(SignallingError) {
        throw .unknownSession
    }

    func changeLiveViewQuality(
        mediaSessionId: String, principal: String, qualityHint: Signalling.QualityHint
    ) async throws(SignallingError) -> Signalling.QualityHint {
        throw .unknownSession
    }

    func trickle(
        _ fragment: String, mediaSessionId: String, principal: String
    ) async throws(SignallingError) -> TrickleResult {
        throw .unknownSession
    }

    func sessions() async -> [LiveViewSnapshot] { [] }
}
