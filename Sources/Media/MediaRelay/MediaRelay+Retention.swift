import DatagramPort
import Transport

extension RelayShard {
    /// Keeps more of a camera from now on.
    func retain(_ camera: String, for asked: Duration, _ status: RetentionStatus) {
        let request = CameraRetention.Request(
            asked: asked, duration: min(max(asked, .zero), limits.longestRetention), status: status)
        let applying = retention.add(request, to: camera)
        for track in tracks.values where track.id.camera == camera && track.keepsHistory {
            track.retain(applying, in: retention.pool)
        }
    }

    /// A request has been withdrawn.
    func endRetention(_ status: RetentionStatus, of camera: String) {
        let applying = retention.remove(status, from: camera)
        for track in tracks.values where track.id.camera == camera && track.keepsHistory {
            track.retain(applying, in: retention.pool)
        }
    }

    /// A new track keeps what has been asked for before it came.
    func applyRetention(to track: RelayTrack) {
        guard track.keepsHistory, let applying = retention.cameras[track.id.camera] else { return }
        track.retain(applying, in: retention.pool)
    }
}

extension MediaRelay {
    /// Keeps the last `duration` of a camera's own tracks from now on, whether or not the camera is there yet.
    /// - Parameter whenChanged: called on the relay's thread when a limit begins or ceases to prevent a
    ///   track. It must not wait.
    public func retain(
        _ camera: String, for duration: Duration,
        whenChanged: @escaping @Sendable (TrackID, RetentionGrant) -> Void = { _, _ in }
    ) -> RingRetention {
        let status = RetentionStatus(notify: whenChanged)
        postToHome(of: camera) { shard, _ in shard.retain(camera, for: duration, status) }
        return RingRetention(camera: camera, duration: duration, status: status) { [self] in
            postToHome(of: camera) { shard, _ in shard.endRetention(status, of: camera) }
        }
    }
}
