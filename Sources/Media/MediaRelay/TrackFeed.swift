import RTP
import Transport

/// How a track on one shard gets what its camera sends, where another shard is the track's home.
///
/// The home is always fed. Another shard asks it for a feed when its first viewer of the track comes, and gives it up
/// after the last one. So a camera's thread wakes only the shards that have viewers of it.
struct TrackFeed {
    /// What the home hands over when it opens a feed: everything that the batches in the feed continue. The ring's batches
    /// are shared.
    struct Start: Sendable {
        var ring: TrackRing
        var timeline: TrackTimeline
        var clock: TrackClock
        var timestampOffset: UInt32?
        var recentBytes: RecentBytes
    }

    private enum State: Equatable {
        /// Nobody watches.
        case shut
        /// The home has been asked, with this number.
        case requested(UInt64)
        /// What the camera sends arrives.
        case open
        /// The track has been taken out.
        case ended
    }

    /// The track's home.
    let home: Int
    private let id: TrackID
    private let shard: Int
    private let links: ShardLinks
    private var state = State.shut
    /// Whether what the home hands over is old already.
    private(set) var startIsOld = false

    init(of id: TrackID, from home: Int, to shard: Int, links: ShardLinks) {
        self.id = id
        self.home = home
        self.shard = shard
        self.links = links
    }

    /// Whether the ring holds what the home's holds.
    var isOpen: Bool { state == .open || state == .ended }

    /// Asks the home for the feed, unless it has been asked.
    mutating func request() {
        guard state == .shut else { return }
        let request = links.makeFeedRequest()
        state = .requested(request)
        startIsOld = false
        links.post(to: home) { [id, shard] home, now in home.openFeed(of: id, for: shard, request: request, at: now) }
    }

    /// The home has opened the feed. False when this is not the one that was asked for last.
    mutating func open(_ request: UInt64) -> Bool {
        guard state == .requested(request) else { return false }
        state = .open
        return true
    }

    /// The source has started again, or its ring was emptied.
    mutating func recordRestart() {
        if case .requested = state { startIsOld = true }
    }

    /// Gives the feed up.
    mutating func shut() {
        guard state != .shut, state != .ended else { return }
        state = .shut
        links.post(to: home) { [id, shard] home, _ in home.shutFeed(of: id, for: shard) }
    }

    /// The track has been taken out. Its name may be another one's now.
    mutating func end() {
        shut()
        state = .ended
    }

    /// Asks the home for a key frame.
    func requestKeyFrame() {
        links.post(to: home) { [id] home, now in home.tracks[id]?.requestKeyFrame(at: now) }
    }
}

/// The feeds of tracks whose home this shard is.
extension RelayShard {
    /// The home of a camera's tracks.
    func home(of camera: String) -> Int { ShardMark.home(of: camera, of: links.count) }

    /// Another shard has a viewer of a track. The wish is kept, whether there is such a track now or not.
    func openFeed(of id: TrackID, for shard: Int, request: UInt64, at now: Instant) {
        feeds[id, default: [:]][shard] = request
        if let track = tracks[id] { openFeed(of: track, for: shard, request: request) }
    }

    /// Another shard has lost its last viewer of a track.
    func shutFeed(of id: TrackID, for shard: Int) {
        feeds[id]?[shard] = nil
        if feeds[id]?.isEmpty == true { feeds[id] = nil }
        tracks[id]?.inlet?.shut(for: shard)
    }

    /// A track has another inlet, from which nothing has been taken yet.
    func reopenFeeds(of track: RelayTrack) {
        for (shard, request) in feeds[track.id] ?? [:] { openFeed(of: track, for: shard, request: request) }
    }

    /// From the inlet the other shard gets what this one has not taken yet, and with the message what this one has.
    private func openFeed(of track: RelayTrack, for shard: Int, request: UInt64) {
        guard let inlet = track.inlet else { return }
        inlet.open(for: shard, like: index)
        let (id, start) = (track.id, track.feedStart)
        links.post(to: shard) { shard, now in
            shard.receiveFeed(of: id, from: inlet, start, request: request, at: now)
        }
    }

    /// The shards other than this one that are fed one of a camera's tracks.
    func fedShards(of camera: String) -> Set<Int> {
        guard links.count > 1 else { return [] }
        return feeds.reduce(into: []) { shards, feed in
            if feed.key.camera == camera { shards.formUnion(feed.value.keys) }
        }
    }
}

/// The feeds of tracks whose home is elsewhere.
extension RelayShard {
    /// The home has opened a feed that this shard has asked for.
    private func receiveFeed(
        of id: TrackID, from inlet: TrackInlet, _ start: TrackFeed.Start, request: UInt64, at now: Instant
    ) {
        guard let track = tracks[id], track.openFeed(request) else { return }
        // If the source has started again since, the home has opened or will open the feed of its new inlet, and
        // everything comes from there.
        if track.inlet === inlet, track.feed?.startIsOld == false { track.begin(with: start) }
        if let inlet = track.inlet { takeIn(track, from: inlet, at: now) }
        for viewer in track.viewers {
            viewer.startLate(track, at: now)
            forward(track, to: viewer, at: now)
        }
        let isAwaited = track.viewers.contains { viewer in viewer.awaitsKeyFrame(of: track) }
        if isAwaited { track.requestKeyFrame(at: now) }
    }
}

extension Viewer {
    /// Whether the viewer can go on, or switch, only when a key frame of the track comes.
    func awaitsKeyFrame(of track: RelayTrack) -> Bool {
        guard track.isVideo else { return false }
        // A viewer that has not switched by now waits for a newer key frame.
        return egress.contains {
            $0.nextTrack === track
                || $0.track === track && mediaFlows && $0.cursor == nil && track.ring.newestKeyFrame == nil
        }
    }
}
