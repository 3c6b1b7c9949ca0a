import Transport

/// All requests for retention on one shard, by camera.
final class ShardRetention {
    let pool: RetentionPool
    private(set) var cameras: [String: CameraRetention] = [:]
    /// How often a request has become one that cannot be met.
    var shortfalls: UInt64 = 0

    init(pool: RetentionPool) {
        self.pool = pool
    }

    /// How many requests there are.
    var count: Int { cameras.values.reduce(0) { $0 + $1.requests.count } }
    /// How many of them cannot be met now.
    var shortCount: Int {
        cameras.values.reduce(0) { $0 + $1.requests.count { $0.status.grants.values.contains { $0.limit != nil } } }
    }

    /// Adds a request and answers what applies to the camera now.
    func add(_ request: CameraRetention.Request, to camera: String) -> CameraRetention {
        let known = cameras[camera] ?? CameraRetention(shard: self)
        cameras[camera] = known
        known.requests.append(request)
        return known
    }

    /// Removes a request and answers what applies to the camera now; nil for nothing.
    func remove(_ status: RetentionStatus, from camera: String) -> CameraRetention? {
        guard let known = cameras[camera] else { return nil }
        known.requests.removeAll { $0.status === status }
        if known.requests.isEmpty { cameras[camera] = nil }
        return cameras[camera]
    }
}

/// What one camera's tracks have to keep, and who asked for it. It lives on the shard's thread.
final class CameraRetention {
    struct Request {
        /// What was asked for.
        var asked: Duration
        /// What can be had at most.
        var duration: Duration
        let status: RetentionStatus
    }

    var requests: [Request] = []
    private unowned let shard: ShardRetention
    /// Since when each of the camera's pictures is kept.
    private var pictures: [(track: TrackHandle, since: Instant)] = []

    /// A shard outlives what it keeps for its cameras.
    init(shard: ShardRetention) {
        self.shard = shard
    }

    /// The longest request.
    var duration: Duration { requests.lazy.map(\.duration).max() ?? .zero }

    /// Since when the camera's pictures are kept; nil if it has none.
    var picturesSince: Instant? { pictures.lazy.map(\.since).min() }

    func recordPictures(of track: TrackHandle, since moment: Instant?) {
        let known = pictures.firstIndex { $0.track == track }
        switch (known, moment) {
        case (let index?, let moment?): pictures[index].since = moment
        case (let index?, nil): pictures.remove(at: index)
        case (nil, let moment?): pictures.append((track, moment))
        case (nil, nil): break
        }
    }

    /// Works out what each request gets of a track whose ring has changed.
    func review(_ track: TrackID, _ ring: TrackRing, at now: Instant) {
        let reach = ring.oldestStart.map { max(now - $0, .zero) } ?? .zero
        for request in requests {
            var grant = RetentionGrant(reach: reach)
            let before = request.status.grants[track]
            if let cut = ring.lastCut {
                // A ring that is cut again and again has enough for a moment after each key frame.
                let isShort = reach < request.duration
                let wasShort = before?.limit.map { $0 != .duration(request.duration) } ?? false
                if isShort || wasShort && now - cut.at <= request.duration {
                    grant.limit = cut.limit
                    if wasShort, let before { grant.reach = min(reach, before.reach) }
                }
            }
            if grant.limit == nil, request.asked > request.duration { grant.limit = .duration(request.duration) }
            if request.status.set(grant, of: track) { shard.shortfalls += 1 }
        }
    }

    func forget(_ track: TrackID, _ handle: TrackHandle) {
        recordPictures(of: handle, since: nil)
        for request in requests { request.status.forget(track) }
    }
}
