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
    /// Asks the source for a key frame. Called on the shard's thread: it must not wait.
    public var requestKeyFrame: @Sendable () -> Void
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
/// This object is the way in from other threads. All the work is done by one ``RelayShard`` on a thread of its own.
public final class MediaRelay: Sendable {
    let shard: ShardThread<RelayShard>
    let sessions = SessionDirectory()
    private let ready = ReadyList()
    /// The UDP port that all sessions share.
    public let port: UDPPort

    /// Starts the relay's thread on `port`.
    /// - Throws: `SystemCallError` when the thread cannot be started.
    public init(port: UDPPort, limits: RelayLimits = RelayLimits()) throws(SystemCallError) {
        self.port = port
        let ready = ready
        shard = try ShardThread(name: "relay", port: port) { context in
            ready.attach(wake: context.wake)
            return RelayShard(
                port: context.port, limits: limits,
                wallClock: WallClockReading(instant: MonotonicClock.now, unixNanoseconds: WallClock.now),
                random: .system, ready: ready)
        }
    }

    /// Says which tracks a camera sends, again after each of its restarts.
    /// - Returns: for each track, where to hand in its batches.
    public func setTracks(camera: String, _ tracks: [RelayTrackDescription]) -> [TrackInlet] {
        setTracks(camera: camera, tracks.enumerated().map { (index: $0, description: $1) })
    }

    /// Says which tracks a camera sends, each with its index, again after each of its restarts.
    /// - Returns: for each track, where to hand in its batches: a track that continues keeps its inlet.
    public func setTracks(
        camera: String, _ tracks: [(index: Int, description: RelayTrackDescription)]
    ) -> [TrackInlet] {
        let entries = tracks.map { index, track in
            (id: TrackID(camera: camera, index: index), description: track, inlet: track.continuing ?? makeInlet())
        }
        shard.post { handler, now in handler.setTracks(entries, camera: camera, at: now) }
        return entries.map(\.inlet)
    }

    private func makeInlet() -> TrackInlet { TrackInlet(lists: [ready]) }

    /// Takes a camera's tracks out and ends the sessions of its viewers.
    public func removeCamera(_ camera: String) {
        shard.post { handler, now in handler.removeCamera(camera, at: now) }
    }

    /// Takes a report of a camera's clock (RFC 3550, section 6.4.1).
    public func noteSenderReport(_ track: TrackID, ntp: UInt64, rtpTimestamp: UInt32) {
        shard.post { handler, now in
            handler.noteSenderReport(track, ntp: ntp, rtpTimestamp: rtpTimestamp, at: now)
        }
    }

    /// Takes what moment a packet of a track stands for, where the gateway itself knows it: for a track that it makes.
    public func noteCapture(_ track: TrackID, rtpTimestamp: UInt32, at instant: Instant) {
        shard.post { handler, now in
            handler.handleInlets(at: now)
            handler.noteCapture(track, rtpTimestamp: rtpTimestamp, at: instant)
        }
    }

    /// Empties a camera's rings: it is not pulled any more, and nobody is to be shown what is old.
    public func clearTracks(of camera: String) {
        shard.post { handler, now in handler.clearTracks(of: camera, at: now) }
    }

    /// Takes a viewer in. `notify` is called on the shard's thread: it must not wait.
    public func addViewer(
        _ configuration: ViewerConfiguration, status: ViewerStatus,
        notify: @escaping @Sendable (ViewerEvent) -> Void
    ) {
        let handle = sessions.add(configuration.sessionID)
        let notify = forgetting(configuration.sessionID, handle, notify)
        let posted = shard.post { handler, now in
            handler.add(configuration, as: handle, status: status, notify: notify, at: now)
        }
        if !posted { sessions.remove(configuration.sessionID, handle) }
    }

    /// Lets the directory forget a session that has ended, before anybody else hears of its end.
    func forgetting(
        _ sessionID: String, _ handle: SessionHandle, _ notify: @escaping @Sendable (ViewerEvent) -> Void
    ) -> @Sendable (ViewerEvent) -> Void {
        let sessions = sessions
        return { event in
            if case .ended = event { sessions.remove(sessionID, handle) }
            notify(event)
        }
    }

    /// Runs `body` on the thread of a session, if there is one of this name.
    func post(
        to sessionID: String, _ body: @escaping @Sendable (RelayShard, Viewer, Instant) -> Void
    ) {
        guard let handle = sessions[sessionID] else { return }
        shard.post { handler, now in
            if let viewer = handler.viewers[handle] { body(handler, viewer, now) }
        }
    }

    /// Ends a viewer's session with a goodbye.
    public func removeViewer(_ sessionID: String, reason: String) {
        post(to: sessionID) { handler, viewer, now in handler.dismiss(viewer, reason: reason, at: now) }
    }

    /// Ends the sessions of all viewers of a track with a goodbye; taps stay.
    public func dismissViewers(of track: TrackID, reason: String) {
        shard.post { handler, now in
            for viewer in handler.tracks[track]?.viewers ?? [] { handler.dismiss(viewer, reason: reason, at: now) }
        }
    }

    /// Opens the gate for a viewer's microphone, or shuts it with nil.
    public func setTalkbackSink(_ sessionID: String, _ sink: (any TalkbackSink)?) {
        post(to: sessionID) { _, viewer, _ in viewer.talkback.setSink(sink) }
    }

    /// Sends a viewer no sound for `duration`, or sound again with nil: half duplex while the viewer talks.
    public func holdSound(_ sessionID: String, for duration: Duration?) {
        post(to: sessionID) { _, viewer, now in viewer.holdSound(until: duration.map { now + $0 }, at: now) }
    }

    /// Adds candidates that came after the offer.
    /// - Parameter areComplete: whether the viewer has said that no others follow.
    public func addRemoteCandidates(
        _ sessionID: String, _ candidates: [RemoteCandidate], areComplete: Bool = false
    ) {
        post(to: sessionID) { handler, viewer, now in
            for candidate in candidates { viewer.peer.addRemoteCandidate(candidate) }
            if areComplete { viewer.peer.endOfRemoteCandidates(at: now) }
            handler.service(viewer, at: now)
        }
    }

    /// Starts ICE again with other credentials; media goes on over the old path meanwhile.
    public func restartICE(_ sessionID: String, local: ICECredentials, remote: ICECredentials) {
        post(to: sessionID) { handler, viewer, now in
            handler.restartICE(viewer, local: local, remote: remote, at: now)
        }
    }

    /// The counters of the viewers now connected, by session.
    public func statistics() async -> [String: ViewerStatistics] {
        await withCheckedContinuation { continuation in
            let posted = shard.post { handler, _ in
                let viewers = handler.viewers.values.map { ($0.sessionID, $0.readStatistics()) }
                continuation.resume(returning: Dictionary(viewers, uniquingKeysWith: { first, _ in first }))
            }
            if !posted { continuation.resume(returning: [:]) }
        }
    }

    /// What the relay has done since it started.
    public func counters() async -> RelayCounters {
        await withCheckedContinuation { continuation in
            let posted = shard.post { handler, _ in continuation.resume(returning: handler.readCounters()) }
            if !posted { continuation.resume(returning: RelayCounters()) }
        }
    }

    /// The processor time that the relay's thread has used.
    public var processorTime: Duration { shard.counters.processorTime }

    /// Says goodbye to every viewer and ends the thread; returns when it has ended.
    public func stop() {
        shard.stop()
        shard.join()
    }
}
