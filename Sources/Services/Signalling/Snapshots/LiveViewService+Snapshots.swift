import Transport

extension LiveViewService {
    public func snapshot(
        of deviceID: String, maximumWidth: Int?
    ) async throws(SignallingError) -> CameraSnapshot {
        guard let station = stations[deviceID] else { throw .unknownDevice(deviceID) }
        let result: Result<CameraSnapshot, SignallingError>
        do {
            result = .success(
                try await station.snapshot(maximumWidth: maximumWidth, timeout: configuration.cameraTimeout))
        } catch {
            result = .failure(error)
        }
        switch await station.takeSnapshotNews() {
        case .damaged(let reason): announce(.pictures(deviceID: deviceID, damage: reason))
        case .recovered: announce(.pictures(deviceID: deviceID, damage: nil))
        case nil: break
        }
        return try result.get()
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

    /// What has changed with the making of pictures since the last look.
    func takeSnapshotNews() async -> SnapshotMaker.News? {
        await state.withLock { $0.snapshots }?.takeNews()
    }
}
