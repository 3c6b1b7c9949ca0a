import Transport

/// What a station needs when nothing of its camera may leave.
extension MediaRelay {
    /// Ends the sessions of all viewers of a camera with a goodbye; taps stay.
    /// - Parameter whenEnded: called once, when nothing more is sent to them. It must not wait.
    public func endViewers(of camera: String, because end: ViewerEnd, whenEnded: @escaping @Sendable () -> Void) {
        let left = Locked(links.count)
        let arrive: @Sendable () -> Void = {
            let isLast = left.withLock { left in
                left -= 1
                return left == 0
            }
            if isLast { whenEnded() }
        }
        for shard in 0..<links.count {
            let posted = links.post(to: shard) { shard, now in
                for track in shard.tracks.values where track.id.camera == camera {
                    for viewer in track.viewers { shard.dismiss(viewer, because: .viewer(end), at: now) }
                }
                arrive()
            }
            if !posted { arrive() }
        }
    }

    /// Nobody who begins from now on gets what a camera's rings hold: video begins with the next key frame, and sound with
    /// what comes next. Those who are being sent the camera go on.
    public func hideHistory(of camera: String) {
        postToAll(of: camera) { shard, now in
            // What was handed in before belongs to the history.
            shard.handleInlets(at: now)
            for track in shard.tracks.values where track.id.camera == camera { track.hideHistory() }
        }
    }
}
