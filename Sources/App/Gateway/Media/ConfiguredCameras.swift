import Cameras
import HomeHub
import Logging
import PushAvStreamTransport
import Stations

/// Runs the cameras of the config: translates them for the registry, and what became of them for the home.
struct ConfiguredCameras: CameraRunning {
    let registry: CameraRegistry
    /// Serves the cameras to other programs.
    var sharing: CameraSharing?
    /// Who may publish by RTSP and RTMP.
    var publishers: PublisherAccess?
    /// Records the cameras.
    var recorders: CameraRecorders?
    /// The sounds that are played on the cameras' speakers.
    let sounds: [CameraSound]
    let logger: Logger

    init(
        registry: CameraRegistry, sharing: CameraSharing? = nil, publishers: PublisherAccess? = nil,
        recorders: CameraRecorders? = nil, sounds: [CameraSound] = [.doorbell], logger: Logger
    ) {
        self.sounds = sounds
        self.recorders = recorders
        self.registry = registry
        self.sharing = sharing
        self.publishers = publishers
        self.logger = logger
    }

    func apply(_ cameras: [GatewayConfiguration.Camera]) async -> CameraChanges {
        guard let done = await registry.apply(cameras.map { CameraSettings($0) }) else { return CameraChanges() }
        for (id, reason) in done.failed {
            logger.error("a camera cannot be set up", metadata: ["camera": "\(id)", "reason": "\(reason)"])
        }
        recorders?.setStations(await registry.running.map(\.station))
        sharing?.share(await registry.running.map { ($0.station, $0.settings.name) })
        var changes = CameraChanges()
        changes.added = done.added
        changes.changed = done.changed
        changes.removed = done.removed
        changes.drivers = done.begun.map { camera in
            // Each counts the stays of its camera from 1. The name keeps them apart, also from those of earlier runs.
            StationDriver(camera, sounds: sounds, run: String(UInt32.random(in: .min ... .max), radix: 16))
        }
        changes.drivers += done.failed.map { UnusableCamera(deviceID: $0.id, reason: $0.reason) }
        return changes
    }

    func share(
        recordings store: any RecordingReading, recovery: RecordingRecovery,
        permits: @escaping @Sendable (String) async -> OutputPermits?
    ) {
        sharing?.share(recordings: store, recovery: recovery, permits: permits)
    }

    func share(accepting principal: @escaping @Sendable (_ token: String, _ device: String) -> String?) {
        sharing?.share(accepting: principal)
    }

    func share(publishing judge: PublisherJudge) { publishers?.set(judge) }

    func endReaders(of principal: String, unless mayWatch: @escaping @Sendable (_ device: String) -> Bool) {
        sharing?.endReaders(of: principal, unless: mayWatch)
    }

    func findings(of id: String) async -> CameraFindings? {
        await registry.camera(id)?.source.report.map { CameraFindings($0) }
    }

    func reconnect(_ id: String) async -> Bool { await registry.reconnect(id) }
}
