import Transport

extension LiveViewService {
    public func snapshot(
        of deviceID: String, maximumWidth: Int?
    ) async throws(SignallingError) -> CameraSnapshot {
        guard let station = stations[deviceID] else { throw .unknownDevice(deviceID) }
        return try await station.snapshot(maximumWidth: maximumWidth, timeout: configuration.cameraTimeout)
    }
}

extension CameraStation {
    /// The camera's newest picture as a JPEG image; see ``LiveViewServing/snapshot(of:maximumWidth:)``.
    /// - Parameter timeout: how long to wait for a camera that has to be pulled first.
    public func snapshot(
        maximumWidth: Int? = nil, timeout: Duration = .seconds(10)
    ) async throws(SignallingError) -> CameraSnapshot {
        let maker = state.withLock { state in
            if let known = state.snapshots { return known }
            let maker = SnapshotMaker(timeout: timeout)
            state.snapshots = maker
            return maker
        }
        return try await maker.snapshot(of: self, maximumWidth: maximumWidth)
    }
}
