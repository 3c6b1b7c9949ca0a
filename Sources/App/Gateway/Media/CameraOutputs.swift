import DatagramPort
import PushAvStreamTransport
import Stations
import Transport

/// Connects the cameras' outputs with their recording connections, which decide what is allowed. The connections are in the
/// home's store, which is opened after the cameras' registry was made.
public final class CameraOutputs: Sendable {
    private let service = Locked<TransportService?>(nil)
    private let registry = Locked<CameraRegistry?>(nil)
    private let recorders = Locked<CameraRecorders?>(nil)

    /// Knows neither side yet.
    init() {}

    /// The home's connections are these.
    func use(_ service: TransportService) { self.service.withLock { $0 = service } }

    /// The cameras are these.
    func use(_ registry: CameraRegistry) { self.registry.withLock { $0 = registry } }

    /// The cameras are recorded by these.
    func use(_ recorders: CameraRecorders) { self.recorders.withLock { $0 = recorders } }

    /// What is allowed of a camera when it begins. A camera that was switched off sends nothing meanwhile.
    func saved(_ device: String) -> OutputPolicy {
        service.withLock { $0 }?.kept(of: device).map { OutputPolicy($0) } ?? OutputPolicy()
    }

    /// Whether a connection names an upload endpoint.
    func usesEndpoint(_ endpoint: UInt16) -> Bool {
        service.withLock { $0 }?.usesEndpoint(endpoint) ?? false
    }

    /// The number of a session that follows one that was cut.
    func nextSessionNumber(on connection: UInt16, of device: String) -> UInt64? {
        service.withLock { $0 }?.nextSessionNumber(on: connection, of: device)
    }

    /// Changes what is allowed of a camera.
    func set(_ policy: OutputPolicy, of device: String) async {
        await registry.withLock { $0 }?.setOutputs(policy, of: device)
        recorders.withLock { $0 }?.resume(device)
    }
}
