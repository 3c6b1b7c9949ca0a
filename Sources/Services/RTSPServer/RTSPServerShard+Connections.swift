import Cameras
import DatagramPort
import MediaRelay
import RTP
import RTSP
import Transport

extension RTSPServerShard {
    /// The socket of a connection is ready for something.
    func handle(_ readiness: ShardContext.Readiness, of id: UInt64, at now: Instant) {
        guard let connection = connections[id] else { return }
        if readiness.contains(.readable), !read(connection, at: now) {
            return end(connection, because: .closedByClient, at: now)
        }
        // If nothing more can be read, nothing else would notice the end.
        if readiness.contains(.closed), !connection.session.wantsInput {
            return end(connection, because: .connectionLost, at: now)
        }
        run(connection, at: now)
    }

    /// Reads what has arrived; false when the client has gone.
    private func read(_ connection: RTSPConnection, at now: Instant) -> Bool {
        for _ in 0..<4 {
            guard connection.session.wantsInput else { return true }
            var outcome = TCPSocket.Outcome.wouldBlock
            connection.session.receive { buffer in
                outcome = connection.socket.receive(into: buffer)
                if case .bytes(let count) = outcome { return count }
                return 0
            }
            switch outcome {
            case .bytes: run(connection, at: now)
            case .wouldBlock: return true
            case .closed, .failed: return false
            }
            if connection.isEnded { return true }
        }
        return true
    }

    /// Passes what has been read to the session, and acts on its events.
    func run(_ connection: RTSPConnection, at now: Instant) {
        // A request is at least twenty bytes, so one buffer holds fewer than two thousand.
        for _ in 0..<4096 {
            guard !connection.isEnded, let event = connection.session.pollEvent(at: now) else { break }
            handle(event, of: connection, at: now)
        }
        if !connection.isVouchedFor, let principal = connection.session.principal {
            connection.isVouchedFor = true
            ledger.vouch(for: connection, principal: principal)
        }
        service(connection, at: now)
    }

    private func handle(_ event: RTSPServerEvent, of connection: RTSPConnection, at now: Instant) {
        switch event {
        case .describe(let resource): describe(resource, connection, at: now)
        case .setUp(let path, let track): setUp(path: path, track: track, connection, at: now)
        case .play: play(connection, at: now)
        case .announce(let resource, let description): announce(resource, description, connection, at: now)
        case .record: record(connection, at: now)
        case .paused: stopMedia(connection, at: now)
        case .tornDown: release(connection, because: .tornDown, at: now)
        case .refusedCredentials:
            counters.refusedCredentials += 1
            connection.session.hold(until: signIns.refuse(connection.peer, at: now))
            report(.refused(host: connection.peer.host))
        case .forbidden(let path, let fault): forbid(path, fault, connection, at: now)
        case .received(let track, _, let range): receive(mediaIndex: track, range, connection, at: now)
        }
    }

    /// Sends what waits for a connection. If the socket does not accept all of it, waits for room.
    func service(_ connection: RTSPConnection, at now: Instant) {
        guard !connection.isEnded else { return }
        sendFootage(to: connection, at: now)
        var counts = SentCounts()
        let isAlive = connection.flush(sendingContext(at: now), counts: &counts)
        counters.packetsSent += counts.packets
        counters.bytesSent += counts.bytes
        counters.datagramsRefused += counts.refused
        guard isAlive else { return end(connection, because: .connectionLost, at: now) }
        // Where the socket has taken everything at once, nothing else would say that there is room for more.
        if connection.playback?.isHeld == true { connection.playback?.isHeld = connection.isFullOfFootage }
        if endFootage(of: connection, at: now) { return }
        let hasWork = connection.hasWork(at: now)
        if connection.session.isClosing, !hasWork, !connection.session.hasOutput(at: .distantFuture) {
            return end(connection, because: .finished, at: now)
        }
        var interest: ShardContext.Readiness = connection.session.wantsInput ? .readable : []
        if hasWork { interest.insert(.writable) }
        guard interest != connection.interest, let watch = connection.watch else { return }
        do {
            try context.modify(watch, for: interest)
            connection.interest = interest
        } catch {
            end(connection, because: .connectionLost, at: now)
        }
    }

    /// Ends a connection and everything that belongs to it.
    func end(_ connection: RTSPConnection, because end: ReaderEnd, at now: Instant) {
        guard !connection.isEnded else { return }
        connection.recordEnd()
        if connection.isPlaying { connection.sendGoodbye(sendingContext(at: now), reason: end.words) }
        release(connection, because: end, at: now)
        if let watch = connection.watch { context.unwatch(watch) }
        connections[connection.id] = nil
        ledger.leave(connection)
    }

    /// Releases the session's media, tracks and camera; the connection stays.
    private func release(_ connection: RTSPConnection, because end: ReaderEnd, at now: Instant) {
        stopMedia(connection, at: now)
        endPublisher(connection, because: end)
        if connection.isReader {
            connection.isReader = false
            counters.framesDropped += connection.framesDropped
            report(
                .ended(
                    camera: connection.resource, host: connection.peer.host, end: end,
                    packets: connection.packetsSent, framesDropped: connection.framesDropped))
        }
        for track in connection.tracks { stopHearingReports(of: track, connection) }
        connection.tracks = []
        connection.camera = nil
        connection.footage = nil
        connection.footagePosition = 0
        connection.footageSearch = nil
        connection.releaseCamera()
        connection.descriptionWait = nil
    }

    /// Removes the taps.
    func stopMedia(_ connection: RTSPConnection, at now: Instant) {
        connection.startDeadline = nil
        connection.leaveFootage(at: now)
        for index in connection.tracks.indices {
            if let tap = connection.tracks[index].tap {
                taps[tap.id] = nil
                relay.removeTap(tap, from: connection.tracks[index].id)
            }
            connection.tracks[index].pause()
        }
    }
}
