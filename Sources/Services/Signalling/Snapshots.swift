import Stations
import Transport

/// Pictures of cameras.
struct Snapshots: Sendable {
    let registry: SignallingRegistry

    func snapshot(
        of deviceID: String, maximumWidth: Int?
    ) async throws(SignallingError) -> CameraSnapshot {
        let station = try registry.station(of: deviceID)
        let result: Result<CameraSnapshot, SignallingError>
        do throws(StationError) {
            result = .success(
                try await station.snapshot(maximumWidth: maximumWidth, timeout: registry.configuration.cameraTimeout))
        } catch {
            result = .failure(SignallingError(error))
        }
        switch await station.takeSnapshotNews() {
        case .damaged(let reason): registry.announce(.pictures(deviceID: deviceID, damage: reason))
        case .recovered: registry.announce(.pictures(deviceID: deviceID, damage: nil))
        case nil: break
        }
        return try result.get()
    }
}
