import Cameras
import MediaRelay
import PushAvStreamTransport
import RTP
import RTSP
import SDP
import Stations
import Transport

/// Recorded footage: `rtsp://host:port/recordings/{device}`.
extension RTSPServerShard {
    // MARK: Finding it

    /// Looks for the footage that a request names, on another thread.
    func findFootage(path: String, for wish: FootageWish, _ connection: RTSPConnection, at now: Instant) {
        let device = String(path.dropFirst(FootagePresentation.prefix.count))
        guard path.hasPrefix(FootagePresentation.prefix), !device.isEmpty, let footage,
            let query = FootagePresentation.Query(uri: connection.session.pendingURI),
            // A session that exists is about what it was set up for.
            connection.session.identifier == nil
        else { return refuse(wish, .notFound, connection, at: now) }
        // Each search takes a thread, and reads all that was recorded unless the client names times.
        guard admitsSession(of: connection) else {
            switch wish {
            case .describe: connection.session.answerDescribe(.unavailable, at: now)
            case .setUp: connection.session.answerSetUp(.tooManyReaders, at: now)
            }
            return
        }
        let (number, id, host) = (nextFootageSearch, connection.id, connection.peer.host)
        nextFootageSearch += 1
        connection.footageSearch = (number, wish)
        footageSearches[number] = connection.session.principal ?? ""
        let search = FootageSearch(
            source: footage, name: device, query: query, owner: "RTSP reader \(host)", connection: id,
            revoking: revoking)
        let arriving = arrivingFootage
        Task.detached {
            let found = await search.run()
            arriving.post { shard, now in shard.footageFound(found, by: id, number: number, at: now) }
        }
    }

    private func footageFound(
        _ found: FootageSearch.Found, by id: UInt64, number: UInt64, at now: Instant
    ) {
        footageSearches[number] = nil
        // Whatever nobody waits for now is dropped, and its permit with it.
        guard let connection = connections[id], let (search, wish) = connection.footageSearch, search == number else {
            return
        }
        connection.footageSearch = nil
        switch found {
        case .footage(let presentation, let permit):
            // It may have been revoked on its way here.
            guard permit?.revocation == nil else {
                refuse(wish, .refused, connection, at: now)
                break
            }
            connection.camera = nil
            connection.footage = presentation
            connection.footagePosition = 0
            connection.hold(presentation.path, permit: permit)
            switch wish {
            case .describe: answerFootage(presentation, connection, at: now)
            case .setUp(let path, let track): setUpFootage(path: path, track: track, connection, at: now)
            }
        case .refused(let refusal): refuse(wish, refusal, connection, at: now)
        }
        run(connection, at: now)
    }

    private func answerFootage(_ presentation: FootagePresentation, _ connection: RTSPConnection, at now: Instant) {
        // ONVIF's clients count by the time of the day.
        let times = presentation.timeline.range
        let range =
            connection.session.pendingRequires(RTSPFeature.replay)
            ? RTSPRange.clock(from: times.lowerBound, until: times.upperBound)
            : .npt(from: 0, until: presentation.timeline.duration)
        let text = ServedDescription.text(
            name: cameras[presentation.device]?.name ?? presentation.device, tracks: presentation.descriptions,
            address: connection.local, sessionID: random.next() >> 1, range: range.text)
        connection.session.answerDescribe(.found(text), at: now)
    }

    /// Refuses a request for footage.
    func refuse(
        _ wish: FootageWish, _ refusal: FootagePresentation.Refusal, _ connection: RTSPConnection, at now: Instant
    ) {
        switch (wish, refusal) {
        case (.describe, .refused): connection.session.answerDescribe(.refused, at: now)
        case (.describe, .unavailable): connection.session.answerDescribe(.unavailable, at: now)
        case (.describe, _): connection.session.answerDescribe(.notFound, at: now)
        case (.setUp, .refused): connection.session.answerSetUp(.refused, at: now)
        case (.setUp, .unavailable): connection.session.answerSetUp(.unavailable, at: now)
        case (.setUp, _): connection.session.answerSetUp(.notFound, at: now)
        }
    }

    // MARK: SETUP

    /// A client that has asked for a description names no times in its further requests: control addresses have no query.
    func setUpFootage(path: String, track: Int, _ connection: RTSPConnection, at now: Instant) {
        guard let presentation = connection.footage, presentation.path == path, connection.holds(path) else {
            return findFootage(path: path, for: .setUp(path: path, track: track), connection, at: now)
        }
        guard presentation.descriptions.indices.contains(track) else {
            return connection.session.answerSetUp(.notFound, at: now)
        }
        guard admitsSession(of: connection) else { return connection.session.answerSetUp(.tooManyReaders, at: now) }
        let description = presentation.descriptions[track]
        setUp(
            ReaderTrack(
                index: track, id: TrackID(camera: path, kind: description.kind, index: track),
                description: description, random: &random), connection, at: now)
    }

    // MARK: PLAY

    /// Begins to play, or goes elsewhere. While it plays, a new range replaces the old one at once, as in RFC 7826 (section
    /// 13.4). RFC 2326 (section 10.5) would queue it, which no player expects.
    func playFootage(_ connection: RTSPConnection, at now: Instant) {
        // Nothing is played without the permit that ends it when the camera is switched off.
        guard let footage = connection.footage, connection.holds(footage.path) else {
            return connection.session.refusePlay(.sessionNotFound, at: now)
        }
        let text = connection.session.pendingHeader("Range")
        let frames = connection.session.pendingHeader("Frames")
        let rateControl = connection.session.pendingHeader("Rate-Control")
        guard let manner = ReplayManner(frames: frames, rateControl: rateControl) else {
            return connection.session.refusePlay(.badRequest, at: now)
        }
        // If nothing waits for its time, there is nothing to scale.
        let scaleText = manner.isPaced ? connection.session.pendingHeader("Scale") : nil
        if text == nil, scaleText == nil, frames == nil, rateControl == nil, connection.isPlaying,
            connection.playback != nil
        {
            // Some clients repeat PLAY to keep the session alive.
            return answerFootagePlay(connection, at: now)
        }
        var range: RTSPRange?
        if let text {
            do throws(RTSPRange.Fault) {
                range = try RTSPRange(parsing: text)
            } catch {
                return connection.session.refusePlay(error == .unknownUnit ? .notImplemented : .invalidRange, at: now)
            }
        }
        var scale: Double?
        if let scaleText {
            guard let value = Double(scaleText), value.isFinite, value > 0 else {
                // Backwards is not served.
                return connection.session.refusePlay(.notAcceptable, at: now)
            }
            // The nearest that is served; the answer names it (RFC 2326, section 12.34).
            scale = min(max(value, 0.25), 4)
        }
        stopMedia(connection, at: now)
        guard
            let times = footage.times(range ?? .npt(from: nil, until: nil), position: connection.footagePosition)
        else { return connection.session.refusePlay(.invalidRange, at: now) }
        let number = nextFootageSearch
        nextFootageSearch += 1
        connection.playback = FootagePlayback(
            number: number,
            feed: FootageFeed(
                footage, from: times.lowerBound, until: times.upperBound, scale: scale ?? 1, manner: manner,
                random: &random),
            times: times, scale: scale, range: range, manner: manner,
            replaySequence: connection.session.requiresReplay
                ? UInt8(truncatingIfNeeded: connection.session.pendingHeader("CSeq").flatMap { Int($0) } ?? 0) : nil)
        // The answer waits for the first packets: what cannot be read is refused.
        readFootage(for: connection)
    }

    private func readFootage(for connection: RTSPConnection) {
        guard let playback = connection.playback else { return }
        connection.playback?.isReading = true
        let (arriving, id, number) = (arrivingFootage, connection.id, playback.number)
        playback.feed.read { block in
            arriving.post { shard, now in shard.footageArrived(block, for: id, number: number, at: now) }
        }
    }

    private func footageArrived(_ block: FootageFeed.Block, for id: UInt64, number: UInt64, at now: Instant) {
        guard let connection = connections[id], connection.playback?.number == number else { return }
        connection.playback?.isReading = false
        connection.playback?.end = block.end
        connection.playback?.append(block.packets)
        if connection.playback?.started == nil {
            if block.packets.isEmpty, case .failed(let error) = block.end {
                connection.playback = nil
                var status = RTSPStatus.internalServerError
                if case .formatChanges = error { status = .invalidRange }
                if error.isDeletion { status = .notFound }
                connection.session.refusePlay(status, at: now)
                return run(connection, at: now)
            }
            connection.playback?.started = now
            answerFootagePlay(connection, at: now)
            recordReader(connection)
        }
        run(connection, at: now)
    }

    /// All tracks begin with the time that was asked for. Pictures before it, which the decoder needs, have earlier
    /// timestamps.
    private func answerFootagePlay(_ connection: RTSPConnection, at now: Instant) {
        guard let playback = connection.playback, let footage = connection.footage, let started = playback.started
        else { return connection.session.refusePlay(.internalServerError, at: now) }
        connection.session.answerPlay(
            connection.tracks.map { track in
                RTSPServerSession.Beginning(
                    track: track.index, sequenceNumber: track.nextSequenceNumber,
                    rtpTimestamp: track.footageTimestamp(at: started))
            }, range: footage.answer(playback.times, to: playback.range), scale: playback.scale, at: now)
    }

    // MARK: Sending

    /// Passes on what is due, and reads more in time.
    func sendFootage(to connection: RTSPConnection, at now: Instant) {
        guard connection.isPlaying, let started = connection.playback?.started else { return }
        connection.playback?.isHeld = false
        // Each turn removes packets; there are as many as were read in advance.
        while let due = connection.playback?.nextDue, due <= now {
            if connection.isFullOfFootage {
                connection.playback?.isHeld = true
                break
            }
            guard let packets = connection.playback?.next(at: now) else { break }
            // A track that was not set up.
            guard let index = connection.tracks.firstIndex(where: { $0.index == packets.track }) else { continue }
            nextOrdinal += 1
            let replay = connection.playback?.replaySequence.map { sequence in
                ReplayHeaderExtension(
                    time: NTPTimestamp(unixNanoseconds: packets.captured &* 1_000), flags: packets.flags,
                    sequence: sequence)
            }
            connection.tracks[index].append(
                TappedBatch(
                    batch: packets.batch, firstPacket: 0, firstSequence: packets.firstSequence,
                    timestampOffset: connection.tracks[index].footageTicks(at: started),
                    capture: started + packets.shown),
                captured: packets.captured, replay: replay, clock: clock, ordinal: nextOrdinal, at: now)
        }
        if connection.playback?.wantsMore(at: now) == true { readFootage(for: connection) }
    }

    /// Says goodbye when everything has been sent. The client may play something else then; where the footage cannot be
    /// read, the connection ends with the reason. Returns whether the connection has ended.
    func endFootage(of connection: RTSPConnection, at now: Instant) -> Bool {
        guard connection.isPlaying, let playback = connection.playback, playback.started != nil, playback.isEmpty,
            let reason = playback.end, !connection.isBlocked, connection.tracks.allSatisfy({ $0.queue.isEmpty })
        else { return false }
        switch reason {
        case .complete:
            connection.sendGoodbye(sendingContext(at: now), reason: "the end of the recording")
            stopMedia(connection, at: now)
            connection.session.finishPlaying()
            return false
        case .failed(let error):
            end(connection, because: ReaderEnd(error), at: now)
            return true
        }
    }
}

extension ReaderTrack {
    /// The ticks of a moment. Timestamps go on with the time that passes, over pauses and jumps, as players expect
    /// (RFC 2326, appendix B).
    func footageTicks(at moment: Instant) -> UInt32 {
        UInt32(truncatingIfNeeded: Int64(((moment - .zero).inSeconds * Double(clockRate)).rounded()))
    }

    /// The reader's timestamp of the beginning of a playback.
    func footageTimestamp(at moment: Instant) -> UInt32 { footageTicks(at: moment) &+ timestampOffset }
}
