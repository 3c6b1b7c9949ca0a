import DatagramPort
import ICE
import PeerConnection
import RTP
import SDP
import Transport

/// What the relay has to know of a track.
public struct RelayTrackDescription: Sendable {
    /// Whether decoding starts at key frames.
    public var isVideo: Bool
    /// What the packets hold.
    public var codec: MediaCodec
    /// Asks the source for a key frame. Called on a shard's thread: it must not wait.
    public var requestKeyFrame: @Sendable () -> Void
    /// Takes the share of the packets that a viewer has lost lately, for sound whose maker can do something about it; nil
    /// otherwise. Called on a shard's thread: it must not wait.
    public var reportLoss: (@Sendable (_ share: Double, _ at: Instant) -> Void)?
    /// The track's inlet where its source has not started again, so that everything goes on as it was; nil for a track
    /// that is new or whose source has started again.
    public var continuing: TrackInlet?
    /// Whether a retention of the camera covers the track; false for one that is made only while somebody uses it.
    public var keepsHistory = true

    /// Describes a track.
    public init(isVideo: Bool, codec: MediaCodec, requestKeyFrame: @escaping @Sendable () -> Void) {
        self.isVideo = isVideo
        self.codec = codec
        self.requestKeyFrame = requestKeyFrame
    }
}

/// Carries each camera's packets to all of its viewers, over one UDP port.
///
/// This object is the way in from other threads: it knows which shard to ask. All the work is done by the shards, each a
/// ``RelayShard`` on its own thread. Each session lives on one shard, and each camera has a home shard.
public final class MediaRelay: Sendable {
    /// The threads, by the shards' numbers. A test that drives the shards itself has none.
    let shards: [ShardThread<RelayShard>]
    let links: ShardLinks
    let sessions = SessionDirectory()
    let placements: Placements
    let knownTURNState = Locked<TURNState?>(nil)
    /// The thread that speaks with the TURN server; nil without one.
    let turnThread = Locked<ShardThread<TURNDriver>?>(nil)
    /// The thread that has the viewers' TCP connections; nil without a listener.
    let tcpThread = Locked<TCPThread?>(nil)
    let knownReflexiveAddresses = Locked<[ReflexiveAddress]>([])
    let knownMappedAddresses = Locked<[TransportAddress]>([])
    /// Keeps the order of the messages about tracks the same on all shards.
    private let tracksOrder = Locked(0)
    /// The UDP port that all sessions share.
    public let port: UDPPortGroup

    /// Starts a relay with one shard on `port`.
    /// - Throws: `SystemCallError` when the thread cannot be started.
    public convenience init(port: UDPPort, limits: RelayLimits = RelayLimits()) throws(SystemCallError) {
        try self.init(ports: UDPPortGroup(port), limits: limits)
    }

    /// Starts a relay with one shard for each member of `ports`.
    /// - Throws: `SystemCallError` when a thread cannot be started.
    public convenience init(ports: UDPPortGroup, limits: RelayLimits = RelayLimits()) throws(SystemCallError) {
        var addresses: [ShardAddress<RelayShard>] = []
        for _ in ports.ports { addresses.append(try ShardAddress()) }
        let links = ShardLinks(
            addresses.map { address in
                ShardLinks.Link(post: { address.post($0) }, wake: { address.wake() })
            })
        let retentionPool = RetentionPool(limit: limits.totalRetentionBytes)
        var shards: [ShardThread<RelayShard>] = []
        for (index, port) in ports.ports.enumerated() {
            shards.append(
                try ShardThread(name: "relay-\(index)", port: port, address: addresses[index]) { context in
                    RelayShard(
                        port: context.port, limits: limits,
                        wallClock: WallClockReading(instant: MonotonicClock.now, unixNanoseconds: WallClock.now),
                        random: .system, index: index, links: links, retentionPool: retentionPool)
                })
        }
        self.init(shards: shards, links: links, port: ports)
    }

    init(shards: [ShardThread<RelayShard>], links: ShardLinks, port: UDPPortGroup) {
        self.shards = shards
        self.links = links
        self.port = port
        placements = Placements(shards: links.count)
    }

    /// How many shards, and so threads, the relay has.
    public var shardCount: Int { links.count }

    /// The processor time that the relay's threads have used.
    public var processorTime: Duration { processorTimes.reduce(.zero, +) }

    /// The processor time that each of the relay's threads has used.
    public var processorTimes: [Duration] { shards.map(\.counters.processorTime) }

    /// Says goodbye to every viewer and ends the threads; returns when they have ended.
    public func stop() {
        for shard in shards { shard.stop() }
        for shard in shards { shard.join() }
        // After the goodbyes.
        stopRelaying()
        stopAccepting()
    }
}

extension MediaRelay {
    /// Says which tracks a camera with one stream sends, again after each of its restarts.
    /// - Returns: for each track, where to hand in its batches.
    public func setTracks(camera: String, _ tracks: [RelayTrackDescription]) -> [TrackInlet] {
        setTracks(
            camera: camera,
            tracks.enumerated().map { index, track in
                (id: TrackID(camera: camera, kind: track.isVideo ? .video : .audio, index: index), description: track)
            })
    }

    /// Says which tracks a camera sends, each with its name, again after each of its restarts.
    /// - Returns: for each track, where to hand in its batches: a track that continues keeps its inlet.
    public func setTracks(
        camera: String, _ tracks: [(id: TrackID, description: RelayTrackDescription)]
    ) -> [TrackInlet] {
        let home = home(of: camera)
        let entries = tracks.map { id, track in
            (
                id: id, description: track,
                inlet: track.continuing ?? TrackInlet(lists: links.lists, home: home)
            )
        }
        postToAll(of: camera) { shard, now in shard.setTracks(entries, camera: camera, at: now) }
        return entries.map(\.inlet)
    }

    /// Takes a camera's tracks out and ends the sessions of its viewers.
    public func removeCamera(_ camera: String) {
        postToAll(of: camera) { shard, now in shard.removeCamera(camera, at: now) }
    }

    /// Empties a camera's rings: it is no longer pulled, and nobody may be shown old pictures.
    public func clearTracks(of camera: String) {
        postToAll(of: camera) { shard, now in shard.clearTracks(of: camera, at: now) }
    }

    /// Ends the sessions of all viewers of a track with a goodbye; taps stay.
    public func dismissViewers(of track: TrackID, because end: ViewerEnd) {
        postToAll(of: track.camera) { shard, now in
            for viewer in shard.tracks[track]?.viewers ?? [] { shard.dismiss(viewer, because: .viewer(end), at: now) }
        }
    }

    /// Takes a report of a camera's clock (RFC 3550, section 6.4.1).
    public func recordSenderReport(_ track: TrackID, ntp: UInt64, rtpTimestamp: UInt32) {
        postToHome(of: track) { shard, now in
            shard.recordSenderReport(track, ntp: ntp, rtpTimestamp: rtpTimestamp, at: now)
        }
    }

    /// Takes what moment a packet of a track stands for, where the gateway itself knows it: for a track that it makes.
    public func recordCapture(_ track: TrackID, rtpTimestamp: UInt32, at instant: Instant) {
        postToHome(of: track) { shard, now in
            shard.recordOwnCapture(track, rtpTimestamp: rtpTimestamp, at: instant, now: now)
        }
    }

    func home(of camera: String) -> Int { ShardMark.home(of: camera, of: links.count) }

    /// Runs `body` on the home shard of a track.
    @discardableResult
    func postToHome(of track: TrackID, _ body: @escaping ShardMessage) -> Bool {
        postToHome(of: track.camera, body)
    }

    /// Runs `body` on the home shard of a camera.
    @discardableResult
    func postToHome(of camera: String, _ body: @escaping ShardMessage) -> Bool {
        links.post(to: home(of: camera), body)
    }

    /// Runs `body` on every shard, on the camera's home shard last: what the home then says to another shard comes there
    /// after `body`.
    func postToAll(of camera: String, _ body: @escaping ShardMessage) {
        let home = home(of: camera)
        tracksOrder.withLock { _ in
            for shard in 0..<links.count where shard != home { links.post(to: shard, body) }
            links.post(to: home, body)
        }
    }
}
