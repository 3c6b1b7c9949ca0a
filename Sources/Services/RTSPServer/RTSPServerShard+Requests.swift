import Cameras
import MediaRelay
import RTP
import RTSP
import SDP
import Stations
import Transport

extension RTSPServerShard {
    // MARK: DESCRIBE

    func describe(_ resource: RTSPResource, _ connection: RTSPConnection, at now: Instant) {
        guard let camera = camera(at: resource.path) else {
            return findFootage(path: resource.path, for: .describe, connection, at: now)
        }
        // A camera that is pulled on demand starts now, so that it flows when the client plays. A session keeps what it
        // holds, a camera or the permit to play footage: without the permit, nothing would end it.
        if connection.session.identifier == nil {
            guard hold(camera, for: connection) else {
                return connection.session.answerDescribe(.refused, at: now)
            }
            connection.footage = nil
        }
        connection.descriptionWait = RTSPConnection.DescriptionWait(
            camera: camera, end: now + limits.descriptionTimeout, nextLook: now)
        answerDescription(connection, at: now)
    }

    /// Answers a request for a description if the camera's tracks are known, or if it has waited long enough.
    func answerDescription(_ connection: RTSPConnection, at now: Instant) {
        guard let wait = connection.descriptionWait, wait.nextLook <= now else { return }
        let tracks = wait.camera.tracks()
        guard !tracks.isEmpty || now >= wait.end else {
            // An instant of its own: a deadline that is counted from each turn's time never comes.
            connection.descriptionWait?.nextLook = min(now + Self.descriptionInterval, wait.end)
            return
        }
        connection.descriptionWait = nil
        if tracks.isEmpty {
            connection.session.answerDescribe(.unavailable, at: now)
        } else {
            let text = ServedDescription.text(
                name: wait.camera.name, tracks: tracks, address: connection.local, sessionID: random.next() >> 1)
            connection.session.answerDescribe(.found(text), at: now)
        }
    }

    // MARK: SETUP

    func setUp(path: String, track: Int, _ connection: RTSPConnection, at now: Instant) {
        guard let camera = camera(at: path) else {
            return setUpFootage(path: path, track: track, connection, at: now)
        }
        guard admitsSession(of: connection) else {
            return connection.session.answerSetUp(.tooManyReaders, at: now)
        }
        guard hold(camera, for: connection) else { return connection.session.answerSetUp(.refused, at: now) }
        let tracks = camera.tracks()
        guard !tracks.isEmpty else { return connection.session.answerSetUp(.unavailable, at: now) }
        guard tracks.indices.contains(track) else { return connection.session.answerSetUp(.notFound, at: now) }
        connection.camera = camera
        // A description of it may have come before. It gave way with its permit.
        connection.footage = nil
        setUp(
            ReaderTrack(
                index: track, id: TrackID(camera: camera.id, kind: tracks[track].kind, index: track),
                description: tracks[track], random: &random), connection, at: now)
    }

    /// Whether the connection has a session, or may have one more. Searches for footage count too.
    func admitsSession(of connection: RTSPConnection) -> Bool {
        guard connection.session.identifier == nil else { return true }
        let readers =
            connections.values.compactMap { other in
                // A publisher takes no reader's place.
                other.session.identifier == nil || other.publisher != nil ? nil : other.session.principal
            }
            + footageSearches.values
        return limits.admitsReader(connection.session.principal ?? "", readers)
    }

    /// Answers a request for a track, and adds the track to the connection's.
    func setUp(_ track: ReaderTrack, _ connection: RTSPConnection, at now: Instant) {
        var reader = track
        connection.session.answerSetUp(.accepted(ssrc: reader.ssrc), at: now)
        guard let agreed = connection.session.tracks.first(where: { $0.index == reader.index }) else { return }
        reader.transport = agreed.transport
        if let old = connection.tracks.firstIndex(where: { $0.index == reader.index }) {
            stopHearingReports(of: connection.tracks[old], connection)
            connection.tracks.remove(at: old)
        }
        connection.tracks.append(reader)
        if case .datagrams(_, let rtcp) = agreed.transport {
            reporters[connection.peer.withPort(rtcp)] = connection.id
        }
    }

    /// The client's reports about a track no longer count. Another connection may have the same ports by now: that of a client
    /// that has come back before its old connection ended.
    func stopHearingReports(of track: ReaderTrack, _ connection: RTSPConnection) {
        guard case .datagrams(_, let rtcp) = track.transport else { return }
        let place = connection.peer.withPort(rtcp)
        if reporters[place] == connection.id { reporters[place] = nil }
    }

    // MARK: PLAY

    func play(_ connection: RTSPConnection, at now: Instant) {
        guard connection.footage == nil else { return playFootage(connection, at: now) }
        guard !connection.isPlaying else {
            // Some clients repeat it to keep the session alive.
            return connection.session.answerPlay(beginnings(of: connection), at: now)
        }
        connection.startDeadline = now + limits.startTimeout
        var added: [(tap: any TrackTap, track: TrackID)] = []
        for index in connection.tracks.indices {
            let tap = makeTap(isVideo: connection.tracks[index].queue.isVideo)
            connection.tracks[index].tap = tap
            taps[tap.id] = (connection, index)
            connection.cover(tap, of: connection.tracks[index].id)
            added.append((tap, connection.tracks[index].id))
        }
        // Picture and sound begin at the same moment.
        relay.addTaps(added, from: .newestKeyFrame)
    }

    /// Answers PLAY as soon as every track has something to send, so that the answer states where each track begins, or
    /// when that has taken too long.
    func answerPlay(_ connection: RTSPConnection, at now: Instant) {
        guard let deadline = connection.startDeadline else { return }
        guard deadline <= now || connection.tracks.allSatisfy({ !$0.queue.isEmpty }) else { return }
        connection.startDeadline = nil
        connection.session.answerPlay(beginnings(of: connection), at: now)
        recordReader(connection)
        run(connection, at: now)
    }

    /// Reports that a client has begun to read.
    func recordReader(_ connection: RTSPConnection) {
        guard !connection.isReader else { return }
        connection.isReader = true
        counters.readersStarted += 1
        report(
            .started(
                camera: connection.resource, host: connection.peer.host, userAgent: connection.session.userAgent,
                overUDP: connection.usesDatagrams))
    }

    /// Where the tracks begin. All timestamps are for the moment of the oldest packet, so that a player can synchronise
    /// picture and sound before the first sender reports.
    private func beginnings(of connection: RTSPConnection) -> [RTSPServerSession.Beginning] {
        let moment = connection.tracks.compactMap(\.firstCapture).min()
        return connection.tracks.map { track in
            RTSPServerSession.Beginning(
                track: track.index, sequenceNumber: track.nextSequenceNumber,
                rtpTimestamp: moment.flatMap { track.timestamp(at: $0) })
        }
    }

    // MARK: Permits

    /// Makes a camera send for a connection. False if nobody may have it now.
    private func hold(_ camera: ServedCamera, for connection: RTSPConnection) -> Bool {
        let (id, post) = (connection.id, revoking)
        do throws(StationError) {
            try connection.hold(camera) { revocation in
                await withCheckedContinuation { continuation in
                    post.end(id, of: camera.id, because: revocation.refusal) { continuation.resume() }
                }
            }
            return true
        } catch {
            return false
        }
    }

    /// A camera was switched off, or a privacy mode was switched on. Nothing more leaves to the connection, not even what its
    /// socket has taken.
    func revoke(_ id: UInt64, of camera: String, because refusal: OutputRefusal, at now: Instant) {
        guard let connection = connections[id], connection.holds(camera) else { return }
        if connection.descriptionWait != nil {
            connection.descriptionWait = nil
            connection.session.answerDescribe(.refused, at: now)
        }
        if let (_, wish) = connection.footageSearch {
            connection.footageSearch = nil
            refuse(wish, .refused, connection, at: now)
        }
        guard connection.session.identifier != nil else {
            connection.camera = nil
            connection.footage = nil
            // It has only asked for a description, and may ask for another camera's.
            connection.releaseCamera()
            return run(connection, at: now)
        }
        connection.discardUnsent()
        end(connection, because: .revoked(refusal), at: now)
    }

    // MARK: Cameras

    /// Serves these cameras from now on. Readers of a camera that has gone are ended with that reason.
    func setCameras(_ served: [ServedCamera], at now: Instant) {
        cameras = Dictionary(served.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        cameraIDs = Dictionary(
            served.compactMap { camera in camera.key.map { ($0, camera.id) } }, uniquingKeysWith: { first, _ in first })
        for connection in Array(connections.values) {
            guard let camera = connection.camera, cameras[camera.id] == nil else { continue }
            end(connection, because: .cameraRemoved, at: now)
        }
    }

    /// Ends the readers of a principal whose camera it may no longer watch, those of recorded footage too.
    func endReaders(of principal: String, unless mayWatch: (String) -> Bool, at now: Instant) {
        for connection in Array(connections.values) where connection.session.principal == principal {
            guard let device = connection.camera?.id ?? connection.footage?.device, !mayWatch(device) else { continue }
            end(connection, because: .accessEnded, at: now)
        }
    }

    /// The camera that a path names by its identifier or its key.
    func camera(at path: String) -> ServedCamera? {
        cameras[path] ?? cameraIDs[path].flatMap { cameras[$0] }
    }

    func readCounters() -> RTSPServerCounters {
        var result = counters
        result.connections = connections.count
        let drops = inbox.drops
        result.inboxPacketsDropped = drops.packets
        result.inboxBytesDropped = drops.bytes
        for connection in connections.values where connection.isPlaying {
            if let camera = connection.camera { result.readers[camera.id, default: 0] += 1 }
            if connection.footage != nil { result.playbacks += 1 }
            result.framesDropped += connection.framesDropped
        }
        for case let publisher? in connections.values.map(\.publisher) where publisher.started != nil {
            result.publishers[publisher.device, default: 0] += 1
        }
        return result
    }
}
