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
    /// The UDP port that all sessions share.
    public let port: UDPPort

    /// Starts the relay's thread on `port`.
    /// - Throws: `SystemCallError` when the thread cannot be started.
    public init(port: UDPPort, limits: RelayLimits = RelayLimits()) throws(SystemCallError) {
        self.port = port
        shard = try ShardThread(name: "relay", port: port) { context in
            RelayShard(
                port: context.port, limits: limits,
                wallClock: WallClockReading(instant: MonotonicClock.now, unixNanoseconds: WallClock.now),
                random: .system)
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

    private func makeInlet() -> TrackInlet {
        // The shard's thread looks at every inlet when one has woken it, so the message carries nothing.
        TrackInlet { [weak shard] in shard?.post { handler, now in handler.handleInlets(at: now) } }
    }

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
        shard.post { handler, _ in handler.noteCapture(track, rtpTimestamp: rtpTimestamp, at: instant) }
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
        shard.post { handler, now in handler.add(configuration, status: status, notify: notify, at: now) }
    }

    /// Ends a viewer's session with a goodbye.
    public func removeViewer(_ sessionID: String, reason: String) {
        shard.post { handler, now in
            guard let viewer = handler.viewers[sessionID] else { return }
            handler.dismiss(viewer, reason: reason, at: now)
        }
    }

    /// Ends the sessions of all viewers of a track with a goodbye; taps stay.
    public func dismissViewers(of track: TrackID, reason: String) {
        shard.post { handler, now in
            for viewer in handler.tracks[track]?.viewers ?? [] { handler.dismiss(viewer, reason: reason, at: now) }
        }
    }

    /// Opens the gate for a viewer's microphone, or shuts it with nil.
    public func setTalkbackSink(_ sessionID: String, _ sink: (any TalkbackSink)?) {
        shard.post { handler, _ in handler.viewers[sessionID]?.talkback.setSink(sink) }
    }

    /// Sends a viewer no sound for `duration`, or sound again with nil: half duplex while the viewer talks.
    public func holdSound(_ sessionID: String, for duration: Duration?) {
        shard.post { handler, now in
            handler.viewers[sessionID]?.holdSound(until: duration.map { now + $0 }, at: now)
        }
    }

    /// Adds candidates that came after the offer.
    /// - Parameter areComplete: whether the viewer has said that no others follow.
    public func addRemoteCandidates(
        _ sessionID: String, _ candidates: [RemoteCandidate], areComplete: Bool = false
    ) {
        shard.post { handler, now in
            guard let viewer = handler.viewers[sessionID] else { return }
            for candidate in candidates { viewer.peer.addRemoteCandidate(candidate) }
            if areComplete { viewer.peer.endOfRemoteCandidates(at: now) }
            handler.service(viewer, at: now)
        }
    }

    /// Starts ICE again with other credentials; media goes on over the old path meanwhile.
    public func restartICE(_ sessionID: String, local: ICECredentials, remote: ICECredentials) {
        shard.post { handler, now in
            guard let viewer = handler.viewers[sessionID] else { return }
            handler.restartICE(viewer, local: local, remote: remote, at: now)
        }
    }

    /// The counters of the viewers now connected, by session.
    public func statistics() async -> [String: ViewerStatistics] {
        await withCheckedContinuation { continuation in
            let posted = shard.post { handler, _ in
                continuation.resume(returning: handler.viewers.mapValues { $0.readStatistics() })
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
