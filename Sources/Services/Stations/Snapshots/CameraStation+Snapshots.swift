import Transport

/// A change in whether pictures can be made from a camera's video.
public enum SnapshotNews: Sendable, Equatable {
    /// The video is damaged, so no picture can be made.
    case damaged(PictureDamage)
    /// Pictures can be made again.
    case recovered
}

extension CameraStation {
    /// The camera's newest picture as a JPEG image, made from what the relay holds.
    /// - Parameter timeout: how long to wait for a camera that has to be pulled first.
    /// - Throws: `refused` if the camera is off or private, or becomes so meanwhile.
    public func snapshot(
        maximumWidth: Int? = nil, timeout: Duration = .seconds(10)
    ) async throws(StationError) -> CameraSnapshot {
        // While the picture is made, nothing leaves.
        let making = try permit(for: .snapshot, owner: "snapshot") { _ in }
        let maker = state.withLock { state in
            if let known = state.snapshots { return known }
            let maker = SnapshotMaker(timeout: timeout, longestAge: configuration.longestPictureAge)
            state.snapshots = maker
            return maker
        }
        let result: Result<CameraSnapshot, StationError>
        do throws(StationError) {
            result = .success(try await maker.snapshot(of: self, maximumWidth: maximumWidth))
        } catch {
            result = .failure(error)
        }
        // From here on a change waits until the picture has been sent.
        let sending = try permit(for: .snapshot, owner: "snapshot", revoked: nil)
        // That the camera was switched off explains every other failure.
        try making.check()
        var picture = try result.get()
        picture.permit = sending
        return picture
    }

    /// The station's camera is another one now: nobody may get a picture of the one before.
    func forgetSnapshots() async { await state.withLock { $0.snapshots }?.forget() }

    /// The changes in whether pictures can be made, since the last look; each is returned once.
    public func takeSnapshotNews() async -> SnapshotNews? {
        await state.withLock { $0.snapshots }?.takeNews()
    }
}
