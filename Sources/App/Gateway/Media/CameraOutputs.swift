import DatagramPort
import PushAvStreamTransport
import SDP
import Stations
import Transport

/// Connects the cameras' outputs with their recording connections, which decide what is allowed. The connections are in the
/// home's store, which is opened after the cameras' registry was made.
public final class CameraOutputs: Sendable {
    private let service = Locked<TransportService?>(nil)
    private let registry = Locked<CameraRegistry?>(nil)
    private let recorders = Locked<CameraRecorders?>(nil)
    private let tenure = Locked<UInt64?>(nil)
    private let held = Locked<HeldUploads?>(nil)
    /// For a gateway whose store cannot be used. It is greater than any epoch that the store has begun.
    private let startSeconds = UInt64(clamping: WallClock.now / 1_000_000_000)

    /// Knows neither side yet.
    init() {}

    /// The home's connections are these.
    func use(_ service: TransportService) { self.service.withLock { $0 = service } }

    /// The cameras are these.
    func use(_ registry: CameraRegistry) { self.registry.withLock { $0 = registry } }

    /// The cameras are recorded by these.
    func use(_ recorders: CameraRecorders) { self.recorders.withLock { $0 = recorders } }

    /// The gateway records under this epoch.
    func use(tenure: UInt64) { self.tenure.withLock { $0 = tenure } }

    /// These uploads wait until it is known whether the principals have a right to the footage.
    func use(_ held: HeldUploads) { self.held.withLock { $0 = held } }

    /// Why nothing of a connection may be uploaded now; nil when it may.
    func reasonToHold(uploadsOf connection: UInt16, on device: String) -> String? {
        held.withLock { $0 }?.reason(connection: connection, device: device)
    }

    /// The epoch under which the gateway records.
    var epoch: UInt64 { tenure.withLock { $0 } ?? startSeconds }

    /// What is allowed of a camera when it begins. A camera that was switched off sends nothing meanwhile.
    func saved(_ device: String) -> OutputPolicy {
        service.withLock { $0 }?.kept(of: device).map { OutputPolicy($0) } ?? OutputPolicy()
    }

    /// Whether no connection names an upload endpoint, and none can name it from now on.
    func giveUp(_ endpoint: UInt16) -> Bool {
        service.withLock { $0 }?.giveUp(endpoint) ?? true
    }

    /// Whether a connection names an upload endpoint, of whichever camera.
    func uses(_ endpoint: UInt16) -> Bool { service.withLock { $0 }?.uses(endpoint) ?? false }

    /// Connections can name an upload endpoint after all.
    func takeBack(_ endpoint: UInt16) { service.withLock { $0 }?.takeBack(endpoint) }

    /// The number of a session that follows one that was cut.
    func nextSessionNumber(on connection: UInt16, of device: String) -> UInt64? {
        service.withLock { $0 }?.nextSessionNumber(on: connection, of: device)
    }

    /// What a recorder measures of its camera is for the checks of connections.
    func take(_ report: CameraRecorder.Report, of device: String) {
        guard case .keyFrameInterval(let stream, let interval) = report else { return }
        service.withLock { $0 }?.recordKeyFrameInterval(
            interval, of: stream == .sub ? AllocatedStreams.subVideo : AllocatedStreams.mainVideo, of: device)
    }

    /// Whether this gateway may act for a device now.
    func mayAct(for device: String) -> Bool { registry.withLock { $0 }?.tenures.mayAct(for: device) ?? true }

    /// The epoch under which the gateway records a device: that of its tenure.
    func epoch(of device: String) -> UInt64 { registry.withLock { $0 }?.tenures.epoch(of: device) ?? epoch }

    /// Changes what is allowed of a camera.
    func set(_ policy: OutputPolicy, of device: String) async {
        await registry.withLock { $0 }?.setOutputs(policy, of: device)
        recorders.withLock { $0 }?.resume(device)
    }
}
