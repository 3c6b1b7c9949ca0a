import Stations

extension LiveViewService: SnapshotServing {
    public func snapshot(
        of deviceID: String, maximumWidth: Int?
    ) async throws(SignallingError) -> CameraSnapshot {
        try await snapshots.snapshot(of: deviceID, maximumWidth: maximumWidth)
    }
}
