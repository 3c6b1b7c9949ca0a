import DatagramPort
import RTP
import SDP
import Transport

extension RelayShard: ShardHandler {
    func handleWake(at now: Instant) {
        handleInlets(at: now)
        takeHandOvers(at: now)
        flushHandOvers()
    }

    var awaitsMessages: Bool { !earlyChecks.isEmpty }

    func handleMessagesTaken(at now: Instant) {
        handleEarlyChecks(at: now)
    }

    func handleStop(at now: Instant) {
        for session in sessions { dismiss(session, because: .shuttingDown, at: now) }
        ready.close()
    }
}

extension RelayShard {
    /// Makes the tracks of a camera, or keeps them where the camera came back with the same ones.
    func setTracks(
        _ descriptions: [(id: TrackID, description: RelayTrackDescription, inlet: TrackInlet)], camera: String,
        at now: Instant
    ) {
        if descriptions.contains(where: { $0.description.continuing == nil }) { wallClocks[camera]?.reset() }
        let kept = Set(descriptions.map(\.id))
        for id in tracks.keys where id.camera == camera && !kept.contains(id) { removeTrack(id, at: now) }
        for (id, description, inlet) in descriptions {
            if description.continuing != nil, tracks[id] != nil { continue }
            if let track = tracks[id], track.isVideo == description.isVideo,
                track.codec.isNamed(description.codec.name), track.clockRate == description.codec.clockRate
            {
                track.setSource(description)
                setInlet(inlet, of: track)
                restart(track, at: now)
                reopenFeeds(of: track)
                takeIn(track, from: inlet, at: now)
                continue
            }
            removeTrack(id, at: now)
            let home = home(of: id.camera)
            let track = RelayTrack(
                id: id, handle: makeTrackHandle(), description: description, limits: limits, deadlines: deadlines,
                feed: home == index ? nil : TrackFeed(of: id, from: home, to: index, links: links))
            tracks[id] = track
            tracksByHandle[track.handle] = track
            setInlet(inlet, of: track)
            applyRetention(to: track)
            reopenFeeds(of: track)
            // Sound that had gone, and whose viewers stayed for the picture.
            for viewer in viewers.values { viewer.takeBack(track, at: now) }
            // The shard may have looked for its track too early.
            takeIn(track, from: inlet, at: now)
        }
    }

    /// Takes a camera out. The sessions of its viewers end.
    func removeCamera(_ camera: String, at now: Instant) {
        for id in tracks.keys where id.camera == camera { removeTrack(id, at: now) }
        wallClocks[camera] = nil
    }

    private func removeTrack(_ id: TrackID, at now: Instant) {
        guard let track = tracks.removeValue(forKey: id) else { return }
        setInlet(nil, of: track)
        tracksByHandle[track.handle] = nil
        deadlines.remove(.track(track.handle))
        track.end()
        track.retain(nil, in: retention.pool)
        for viewer in track.viewers {
            for index in viewer.egress.indices where viewer.egress[index].nextTrack === track {
                viewer.egress[index].nextTrack = nil
            }
            guard viewer.egress.contains(where: { $0.track === track }) else { continue }
            // What they negotiated is no longer sent, but a picture goes on without its sound.
            let hasPicture = viewer.egress.contains { $0.configuration.isVideo && $0.track !== track }
            if !track.isVideo, hasPicture { continue }
            dismiss(viewer, because: .viewer(.trackGone), at: now)
        }
    }

    /// Exchanges where a track's batches come from. What a source still hands in at the old place goes nowhere.
    private func setInlet(_ inlet: TrackInlet?, of track: RelayTrack) {
        if let old = track.inlet, old !== inlet {
            // Only the home shard looks after the inlet itself.
            if track.feed == nil {
                old.close()
                counters.inletDrops += old.drops
            }
            tracksByInlet[ObjectIdentifier(old)] = nil
        }
        track.inlet = inlet
        if let inlet { tracksByInlet[ObjectIdentifier(inlet)] = track }
    }

    /// Takes a report of the camera's clock.
    func recordSenderReport(_ id: TrackID, ntp: UInt64, rtpTimestamp: UInt32, at now: Instant) {
        // What was handed in before the report comes first.
        handleInlets(at: now)
        guard tracks[id] != nil, ntp != 0 else { return }
        let (instant, correction) = wallClocks[id.camera, default: SourceWallClock()]
            .instant(of: ntp, receivedAt: now)
        if correction != .zero { correctClocks(of: id.camera, by: correction) }
        recordCapture(id, rtpTimestamp: rtpTimestamp, at: instant)
        for shard in fedShards(of: id.camera) {
            links.post(to: shard) { shard, now in
                shard.handleInlets(at: now)
                if correction != .zero { shard.correctClocks(of: id.camera, by: correction) }
                shard.recordCapture(id, rtpTimestamp: rtpTimestamp, at: instant)
            }
        }
    }

    private func correctClocks(of camera: String, by correction: Duration) {
        for track in tracks.values where track.id.camera == camera { track.clock.correct(by: correction) }
    }

    /// Takes what moment a packet of a track stands for.
    func recordCapture(_ id: TrackID, rtpTimestamp: UInt32, at instant: Instant) {
        guard let track = tracks[id], let offset = track.newestTimestampOffset else { return }
        track.clock.recordReport(timestamp: rtpTimestamp &+ offset, at: instant)
    }

    /// Takes it for a track that the gateway makes, whose home this shard is.
    func recordOwnCapture(_ id: TrackID, rtpTimestamp: UInt32, at instant: Instant, now: Instant) {
        handleInlets(at: now)
        recordCapture(id, rtpTimestamp: rtpTimestamp, at: instant)
        for shard in feeds[id, default: [:]].keys {
            links.post(to: shard) { shard, now in
                shard.handleInlets(at: now)
                shard.recordCapture(id, rtpTimestamp: rtpTimestamp, at: instant)
            }
        }
    }

    /// Empties a camera's rings. Its viewers stay, and go on when it comes back.
    func clearTracks(of camera: String, at now: Instant) {
        // What was handed in before is old as well.
        handleInlets(at: now)
        for track in tracks.values where track.id.camera == camera { restart(track, at: now) }
    }

    /// Empties a track's ring: its source starts again. Its viewers stay.
    func restart(_ track: RelayTrack, at now: Instant) {
        track.recordRestart()
        guard track.isFed else { return }
        for viewer in track.viewers { viewer.sourceRestarted(track, at: now) }
        // Other shards have viewers that wait.
        if feeds[track.id] != nil { track.requestKeyFrame(at: now) }
    }
}
