import RTP
import SDP
import Transport

/// One track of one camera on one shard: its ring, its clock, and who watches it. It lives on the shard's thread only.
final class RelayTrack {
    let id: TrackID
    /// Its name in the shard's queue of deadlines.
    let handle: TrackHandle
    /// Where its batches come from; nil only in tests.
    var inlet: TrackInlet?
    /// How its batches come to this shard; nil on the track's home shard, which always gets them.
    private(set) var feed: TrackFeed?
    let isVideo: Bool
    let codec: MediaCodec
    var clockRate: Int { codec.clockRate }
    private(set) var ring: TrackRing
    private(set) var timeline: TrackTimeline
    var clock: TrackClock
    /// The viewers that this track is sent to, in the order in which they came.
    private(set) var viewers: [Viewer] = []
    private var turns = Turns(.viewers)
    /// Consumers that are not viewers.
    var taps: [TapEntry] = []
    /// Whether a retention of its camera covers this track.
    let keepsHistory: Bool
    /// What somebody asked to keep of the camera; nil for nothing.
    private(set) var retention: CameraRetention?
    private var nextReview = Instant.zero
    /// What to add to the newest source timestamps to get the track's; nil before the first packet.
    private(set) var newestTimestampOffset: UInt32?
    /// Asks the source for a key frame.
    private var askSource: @Sendable () -> Void
    /// See ``RelayTrackDescription/reportLoss``.
    private(set) var reportLoss: (@Sendable (_ share: Double, _ at: Instant) -> Void)?
    private var lastKeyFrameRequest: Instant?
    private var requestWaiting = false
    /// Key-frame requests that viewers made, and how many of them went to the source.
    private(set) var keyFrameRequests: (asked: UInt64, forwarded: UInt64) = (0, 0)
    private(set) var packetsReceived: UInt64 = 0
    private(set) var bytesReceived: UInt64 = 0
    private(set) var recentBytes = RecentBytes()
    private let deadlines: ShardDeadlines
    private let limits: RelayLimits

    /// A source is asked at most once in this time, however many viewers ask.
    static let keyFrameRequestInterval = Duration.seconds(1)
    /// A request that has brought nothing in this time has been lost, or what it brought has.
    static let keyFrameRepetition = Duration.seconds(2)
    /// How often somebody who asked for retention learns what the ring holds.
    private static let reviewInterval = Duration.seconds(1)
    /// How long before a group becomes too long to be kept its end is asked for.
    private static let keyFrameLead = Duration.seconds(1)

    init(
        id: TrackID, handle: TrackHandle, description: RelayTrackDescription, limits: RelayLimits,
        deadlines: ShardDeadlines, feed: TrackFeed? = nil
    ) {
        self.feed = feed
        self.limits = limits
        self.id = id
        self.handle = handle
        self.deadlines = deadlines
        isVideo = description.isVideo
        codec = description.codec
        self.keepsHistory = description.keepsHistory
        self.ring = TrackRing(limits, isVideo: description.isVideo)
        self.timeline = TrackTimeline(clockRate: description.codec.clockRate)
        self.clock = TrackClock(clockRate: description.codec.clockRate)
        self.askSource = description.requestKeyFrame
        self.reportLoss = description.reportLoss
    }

    /// The camera has come back: its new source is asked for key frames.
    func setSource(_ description: RelayTrackDescription) {
        askSource = description.requestKeyFrame
        reportLoss = description.reportLoss
        requestWaiting = false
        lastKeyFrameRequest = nil
    }

    /// Whether the ring holds what the camera sends: always on the track's home shard.
    var isFed: Bool { feed?.isOpen ?? true }

    /// A viewer is to get the track. If the track's home is another shard, the first one brings the feed.
    func add(_ viewer: Viewer) {
        if !viewers.contains(where: { $0 === viewer }) { viewers.append(viewer) }
        feed?.request()
    }

    /// A viewer no longer gets the track.
    func remove(_ viewer: Viewer) {
        viewers.removeAll { $0 === viewer }
        guard viewers.isEmpty, feed != nil else { return }
        feed?.shut()
        forgetFeed()
    }

    /// Which of its viewers is served first this time.
    func takeTurn() -> Int { turns.next(of: viewers.count) }

    /// The track has been taken out, although viewers may still hold it.
    func end() {
        feed?.end()
        endTaps()
    }

    /// What another shard needs to continue the feed from the place of this one.
    var feedStart: TrackFeed.Start {
        TrackFeed.Start(
            ring: ring.forViewers, timeline: timeline, clock: clock, timestampOffset: newestTimestampOffset,
            recentBytes: recentBytes)
    }

    /// The home shard has opened the feed. False when this is not the one that was asked for last.
    func openFeed(_ request: UInt64) -> Bool { feed?.open(request) ?? false }

    /// Continues from the place of the home shard.
    func begin(with start: TrackFeed.Start) {
        ring = start.ring
        timeline = start.timeline
        clock = start.clock
        newestTimestampOffset = start.timestampOffset
        recentBytes = start.recentBytes
    }

    /// The home shard's ring is not kept here without viewers.
    private func forgetFeed() {
        ring = TrackRing(limits, isVideo: isVideo)
        timeline = TrackTimeline(clockRate: clockRate)
        clock = TrackClock(clockRate: clockRate)
        newestTimestampOffset = nil
        recentBytes = RecentBytes()
        requestWaiting = false
        deadlines.remove(.track(handle))
    }

    /// Takes a batch into the ring. Answers false when it held nothing.
    func append(_ batch: PacketBatch) -> Bool {
        guard let placement = timeline.place(batch) else { return false }
        if let retention, !isVideo { ring.followPictures(since: retention.picturesSince) }
        ring.append(batch, at: placement)
        newestTimestampOffset = placement.timestampOffset
        packetsReceived += UInt64(batch.packets.count)
        bytesReceived += UInt64(batch.payloadByteCount)
        recentBytes.add(batch.payloadByteCount, at: batch.arrival)
        clock.recordArrival(timestamp: timeline.newestTimestamp, at: batch.arrival)
        if let retention { reviewRetention(retention, at: batch.arrival) }
        return true
    }

    /// The camera's retention has changed; nil when nobody asks for any.
    func retain(_ retention: CameraRetention?, in pool: RetentionPool) {
        if let before = self.retention, before !== retention { before.forget(id, handle) }
        self.retention = retention
        nextReview = .zero
        guard let retention else { return ring.retain(nil) }
        ring.retain(
            TrackRing.Retention(
                duration: retention.duration, maximumBytes: max(limits.retentionBytes, limits.ringBytes),
                room: ring.retention?.room ?? RetentionRoom(pool: pool),
                picturesSince: isVideo ? nil : retention.picturesSince))
        if let newest = ring[ring.end - 1] { reviewRetention(retention, at: newest.batch.arrival) }
    }

    private func reviewRetention(_ retention: CameraRetention, at now: Instant) {
        if isVideo {
            retention.recordPictures(of: handle, since: ring.retainedSince(at: now))
            askForHistory(at: now)
        }
        guard now >= nextReview || ring.lastCut?.at == now else { return }
        nextReview = now + Self.reviewInterval
        retention.review(id, ring, at: now)
    }

    /// Some sources make key frames on request only. Without one now and then, nothing that is kept could be decoded.
    private func askForHistory(at now: Instant) {
        let interval = ring.longestGroup - Self.keyFrameLead
        if let newest = ring.newestStart, now - newest < interval { return }
        if let last = lastKeyFrameRequest, now - last < interval { return }
        requestKeyFrame(at: now)
    }

    /// The source starts again: what follows cannot be decoded with what came before.
    func recordRestart() {
        feed?.recordRestart()
        timeline.recordRestart()
        clock.reset()
        newestTimestampOffset = nil
        ring.removeAll()
        retention?.recordPictures(of: handle, since: nil)
        restartTaps()
    }

    /// Nobody who begins from now on gets what the ring holds.
    func hideHistory() {
        ring.hide()
        if isVideo { retention?.recordPictures(of: handle, since: nil) }
    }

    /// A viewer needs a key frame. The source is asked at most once in ``keyFrameRequestInterval``; a request that
    /// comes too early is kept and made when the time has come (``nextDeadline``).
    func requestKeyFrame(at now: Instant) {
        // The ring on its way from the home shard may bring one.
        guard isVideo, isFed else { return }
        keyFrameRequests.asked += 1
        requestWaiting = true
        handleDeadline(at: now)
    }

    /// Somebody still waits for a key frame while other pictures come. Some sources make none by themselves, so that a
    /// request that was lost is made again.
    func repeatKeyFrameRequest(at now: Instant) {
        guard isVideo, !requestWaiting else { return }
        if let last = lastKeyFrameRequest, now - last < Self.keyFrameRepetition { return }
        requestWaiting = true
        handleDeadline(at: now)
    }

    /// When a kept request may be made.
    var nextDeadline: Instant? {
        guard requestWaiting, let lastKeyFrameRequest else { return nil }
        return lastKeyFrameRequest + Self.keyFrameRequestInterval
    }

    /// Makes a kept request if its time has come.
    func handleDeadline(at now: Instant) {
        guard requestWaiting else { return }
        if let deadline = nextDeadline, deadline > now {
            deadlines.schedule(.track(handle), at: deadline)
            return
        }
        requestWaiting = false
        lastKeyFrameRequest = now
        keyFrameRequests.forwarded += 1
        if let feed { feed.requestKeyFrame() } else { askSource() }
    }

    /// A key frame has come: nobody needs another one.
    func recordKeyFrame() {
        requestWaiting = false
    }
}

/// How much the relay keeps and how far a viewer may fall behind.
public struct RelayLimits: Sendable {
    /// The oldest packet that a ring keeps.
    public var ringDuration: Duration = .seconds(12)
    /// The most bytes that a ring holds.
    public var ringBytes = 16 << 20
    /// The most bytes that a ring holds when somebody has asked to keep more than viewers need.
    public var retentionBytes = 64 << 20
    /// The most bytes that all rings together hold beyond ``ringBytes`` each.
    public var totalRetentionBytes = 256 << 20
    /// The longest time that can be asked for.
    public var longestRetention: Duration = .seconds(120)
    /// A viewer that is this far behind the live edge skips to the newest key frame.
    public var maximumLag: Duration = .milliseconds(1500)
    /// How many packets of a backlog go out in one burst.
    public var burstPackets = 16
    /// The time between two bursts.
    public var burstInterval: Duration = .milliseconds(2)

    /// The defaults.
    public init() {}
}
