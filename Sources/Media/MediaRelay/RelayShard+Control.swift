import DatagramPort
import ICE
import PeerConnection
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
        for viewer in Array(viewers.values) {
            dismiss(viewer, because: .shuttingDown, at: now)
        }
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
            dismiss(viewer, because: .trackGone, at: now)
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

    /// Takes a viewer in and starts its connection.
    func add(
        _ configuration: ViewerConfiguration, as handle: SessionHandle, status: ViewerStatus,
        notify: @escaping @Sendable (ViewerEvent) -> Void, at now: Instant
    ) {
        add(configuration, as: handle, status: status, notify: notify, at: now) { _ in .viewer }
    }

    /// Takes a session in, whose part is `makeRole`'s to say, and starts its connection.
    func add(
        _ configuration: ViewerConfiguration, as handle: SessionHandle, status: ViewerStatus,
        notify: @escaping @Sendable (ViewerEvent) -> Void, at now: Instant,
        makeRole: (inout RandomSource) -> SessionRole
    ) {
        let peer: PeerConnection
        do throws(PeerConnectionError) {
            var configuration = configuration.peer
            if links.count > 1 { configuration.transactionMark = UInt8(truncatingIfNeeded: index) }
            peer = try PeerConnection(
                configuration: configuration, random: RandomSource.derived(from: &random), now: now)
        } catch {
            status.note(.notConnected(error))
            notify(.ended(.notConnected(error)))
            return
        }
        var egress: [Egress] = []
        for description in configuration.egress {
            guard let track = tracks[description.track] else { continue }
            egress.append(Egress(configuration: description, track: track, random: &random))
        }
        let localSSRC = UInt32(truncatingIfNeeded: random.next())
        let viewer = Viewer(
            handle: handle, role: makeRole(&random), configuration: configuration, peer: peer, egress: egress,
            status: status, notify: notify, localSSRC: localSSRC,
            checkAccount: checkAccount(of: configuration.principal, at: now))
        viewer.reports.setWallClock(wallClock)
        guard egress.count == configuration.egress.count else {
            // The camera came back with other tracks between the answer and now.
            end(viewer, because: .trackGone)
            return
        }
        viewers[handle] = viewer
        byFragment[configuration.peer.localCredentials.usernameFragment] = viewer
        for index in egress.indices { egress[index].track.add(viewer) }
        status.note(.offer, at: configuration.offerReceived)
        status.note(.answer, at: configuration.answerReady)
        takeRelayedAddresses(viewer, instead: configuration.peer.addresses, at: now)
        service(viewer, at: now)
    }

    /// Adds candidates that a viewer has named after its offer; see ``MediaRelay/addRemoteCandidates(_:_:areComplete:)``.
    func addRemoteCandidates(
        _ candidates: [RemoteCandidate], areComplete: Bool = false, to viewer: Viewer, at now: Instant
    ) {
        for candidate in candidates { viewer.peer.addRemoteCandidate(candidate) }
        if areComplete { viewer.peer.endOfRemoteCandidates(at: now) }
        // One of them may say of what kind the path in use is.
        viewer.status.note(viewer.peer.pathKind)
        service(viewer, at: now)
    }

    /// Starts a viewer's ICE again. Its checks may still name the credentials from before.
    func restartICE(
        _ viewer: Viewer, local: ICECredentials, remote: ICECredentials, addresses: ICEAddresses? = nil,
        at now: Instant
    ) {
        byFragment[local.usernameFragment] = viewer
        viewer.fragments.append(local.usernameFragment)
        if viewer.fragments.count > Self.rememberedFragments {
            byFragment[viewer.fragments.removeFirst()] = nil
        }
        viewer.peer.restartICE(local: local, remote: remote, addresses: addresses, at: now)
        if let addresses { takeRelayedAddresses(viewer, instead: addresses, at: now) }
        service(viewer, at: now)
    }

    /// A path in use belongs to the generation before at most, so keeping more has no use.
    private static let rememberedFragments = 4

    /// Ends a viewer's session by our own wish: a goodbye for its player, and `close_notify` for its connection.
    /// - Parameter words: what the goodbye says; nil for the words of the end.
    func dismiss(_ viewer: Viewer, because end: ViewerEnd, saying words: String? = nil, at now: Instant) {
        guard !viewer.hasEnded else { return }
        viewer.sendGoodbye(saying: words ?? end.words, through: &sender, scratch: scratch)
        viewer.peer.close()
        transmit(viewer, at: now)
        self.end(viewer, because: end)
    }

    /// Takes a report of the camera's clock.
    func noteSenderReport(_ id: TrackID, ntp: UInt64, rtpTimestamp: UInt32, at now: Instant) {
        // What was handed in before the report comes first.
        handleInlets(at: now)
        guard tracks[id] != nil, ntp != 0 else { return }
        let (instant, correction) = wallClocks[id.camera, default: SourceWallClock()]
            .instant(of: ntp, receivedAt: now)
        if correction != .zero { correctClocks(of: id.camera, by: correction) }
        noteCapture(id, rtpTimestamp: rtpTimestamp, at: instant)
        for shard in fedShards(of: id.camera) {
            links.post(to: shard) { shard, now in
                shard.handleInlets(at: now)
                if correction != .zero { shard.correctClocks(of: id.camera, by: correction) }
                shard.noteCapture(id, rtpTimestamp: rtpTimestamp, at: instant)
            }
        }
    }

    private func correctClocks(of camera: String, by correction: Duration) {
        for track in tracks.values where track.id.camera == camera { track.clock.correct(by: correction) }
    }

    /// Takes what moment a packet of a track stands for.
    func noteCapture(_ id: TrackID, rtpTimestamp: UInt32, at instant: Instant) {
        guard let track = tracks[id], let offset = track.newestTimestampOffset else { return }
        track.clock.noteReport(timestamp: rtpTimestamp &+ offset, at: instant)
    }

    /// Takes it for a track that the gateway makes, whose home this shard is.
    func noteOwnCapture(_ id: TrackID, rtpTimestamp: UInt32, at instant: Instant, now: Instant) {
        handleInlets(at: now)
        noteCapture(id, rtpTimestamp: rtpTimestamp, at: instant)
        for shard in feeds[id, default: [:]].keys {
            links.post(to: shard) { shard, now in
                shard.handleInlets(at: now)
                shard.noteCapture(id, rtpTimestamp: rtpTimestamp, at: instant)
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
        track.noteRestart()
        guard track.isFed else { return }
        for viewer in track.viewers { viewer.sourceRestarted(track, at: now) }
        // Other shards have viewers that wait.
        if feeds[track.id] != nil { track.requestKeyFrame(at: now) }
    }

    /// What the shard has done.
    func readCounters() -> RelayCounters {
        var result = counters
        result.datagramsSent = sender.datagrams
        result.sendCalls = sender.calls
        result.datagramsRefused = sender.refused
        if index == ShardLinks.relayedDoor {
            result.handOverDrops += links.handOverDrops
            result.strayDatagrams += links.strays
        }
        for viewer in viewers.values {
            result.add(viewer.peer.connectivityCounters)
            result.streamSwitches += viewer.streamSwitches
            switch viewer.role {
            case .publisher: result.publishers += 1
            case .viewer:
                result.viewers += 1
                if let kind = viewer.peer.pathKind { result.viewersByPath[kind, default: 0] += 1 }
                if viewer.line.isLimited { result.viewersLimited += 1 }
                if let video = viewer.egress.first(where: \.configuration.isVideo) {
                    result.viewersByStream[video.track.id.stream, default: 0] += 1
                }
            }
        }
        // The home shard counts what came in; the other shards share it.
        for track in tracks.values where track.feed == nil {
            if let inlet = track.inlet { result.inletDrops += inlet.drops }
            result.ringBytes += track.ring.footprint
            result.packetsReceived += track.packetsReceived
        }
        result.retentions = retention.count
        result.retentionsShort = retention.shortCount
        result.retentionShortfalls = retention.shortfalls
        return result
    }
}
