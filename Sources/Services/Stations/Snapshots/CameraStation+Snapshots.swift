import Transport

/// A change in whether pictures can be made from a camera's video.
public enum SnapshotNews: Sendable, Equatable {
    /// The video is damaged, so no picture can be made; says how.
    case damaged(String)
    /// Pictures can be made again.
    case recovered
}

extension CameraStation {
    /// The camera's newest picture as a JPEG image, made from what the relay holds.
    /// - Parameter timeout: how long to wait for a camera that has to be pulled first.
    public func snapshot(
        maximumWidth: Int? = nil, timeout: Duration = .seconds(10)
    ) async throws(StationError) -> CameraSnapshot {
        let maker = state.withLock { state in
            if let known = state.snapshots { return known }
            let maker = SnapshotMaker(timeout: timeout, longestAge: configuration.longestPictureAge)
            state.snapshots = maker
            return maker
        }
        return try await maker.snapshot(of: self, maximumWidth: maximumWidth)
    }

    /// The changes in whether pictures can be made, since the last look; each is returned once.
    public func takeSnapshotNews() async -> SnapshotNews? {
        await state.withLock { $0.snapshots }?.takeNews()
    }
}
