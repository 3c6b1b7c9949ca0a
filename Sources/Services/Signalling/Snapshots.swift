import Stations
import Transport

/// Pictures of cameras.
public protocol SnapshotServing: Sendable {
    /// The newest picture of a device as a JPEG image, for every codec and, while the camera is being pulled, without
    /// waiting for a key frame. Of damaged video it is the last picture that could be decoded, while that is recent.
    /// - Parameter maximumWidth: the maximum width in pixels; nil for the picture's own size.
    /// - Throws: `unknownDevice`, or `station` if no picture came.
    func snapshot(of deviceID: String, maximumWidth: Int?) async throws(SignallingError) -> CameraSnapshot
}

/// Takes pictures of the cameras' stations.
struct Snapshots: SnapshotServing {
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
            result = .failure(.station(error))
        }
        switch await station.takeSnapshotNews() {
        case .damaged(let damage): registry.announce(.pictures(deviceID: deviceID, damage: damage))
        case .recovered: registry.announce(.pictures(deviceID: deviceID, damage: nil))
        case nil: break
        }
        return try result.get()
    }
}
