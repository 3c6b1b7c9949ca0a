import Cameras
import DatagramPort
import RTP
import RTSP
import Signalling
import Transport

extension RTSPServerShard {
    // MARK: ANNOUNCE

    /// Judges what a client announces: whether it may, whether the camera is one that publishers send, and whether
    /// anything of it can be used. The camera is not taken before ``record(_:at:)``.
    func announce(_ resource: RTSPResource, _ text: String, _ connection: RTSPConnection, at now: Instant) {
        let path = resource.path
        guard let gate = limits.publishing else {
            return refuseAnnouncement(path, .notOffered, connection, at: now)
        }
        guard let camera = camera(at: path) else {
            return refuseAnnouncement(path, .failed(.unknownDevice(path)), connection, at: now)
        }
        do throws(SignallingError) {
            try gate.requireRight(of: connection.session.principal ?? "", to: camera.id)
            guard camera.takesPublisher() else { throw SignallingError.takesNoPublisher(device: path) }
        } catch {
            return refuseAnnouncement(path, .failed(error.naming(path)), connection, at: now)
        }
        let stream: AnnouncedStream
        do throws(AnnouncementFault) {
            stream = try AnnouncedStream(parsing: text)
        } catch {
            return refuseAnnouncement(path, .announcement(error), connection, at: now)
        }
        // It may have asked for a description before, and reads no camera now.
        connection.releaseCamera()
        nextPublisher += 1
        connection.publisher = Publisher(
            number: nextPublisher, device: camera.id, path: path, stream: stream,
            ssrc: UInt32(truncatingIfNeeded: random.next()))
        connection.session.answerAnnounce(.accepted(controls: stream.controls), at: now)
    }

    private func refuseAnnouncement(
        _ path: String, _ refusal: RTSPPublisherRefusal, _ connection: RTSPConnection, at now: Instant
    ) {
        connection.session.answerAnnounce(.refused(refusal.status, words: refusal.words), at: now)
        reportRefusal(path, refusal, connection, at: now)
    }

    /// Answers a client whose token does not permit publishing there.
    func forbid(_ path: String, _ fault: PublisherTokenFault, _ connection: RTSPConnection, at now: Instant) {
        let refusal = RTSPPublisherRefusal.token(fault)
        connection.session.answerForbidden(words: refusal.words, at: now)
        reportRefusal(path, refusal, connection, at: now)
    }

    /// Reports that a client may not publish, unless that is known.
    private func reportRefusal(
        _ camera: String, _ refusal: RTSPPublisherRefusal, _ connection: RTSPConnection, at now: Instant
    ) {
        // The client chooses what is in it.
        let (name, host) = (camera.cut(toBytes: 64), connection.peer.host)
        let due = refusedPublishers.record(camera: name, host: host, reason: refusal.logged, at: now)
        guard let count = due else { return }
        report(.refusedPublisher(camera: name, host: host, refusal: refusal, count: count))
    }

    // MARK: RECORD

    /// Makes a client the camera. The answer waits until the publisher before has ended.
    func record(_ connection: RTSPConnection, at now: Instant) {
        guard limits.publishing != nil, let publisher = connection.publisher, !publisher.isStarting else {
            return connection.session.answerRecord(
                .refused(.methodNotValidInThisState, words: "send ANNOUNCE first"), at: now)
        }
        // After a pause, it goes on.
        guard publisher.started == nil else { return connection.session.answerRecord(.started, at: now) }
        publisher.tracks = []
        for track in publisher.stream.tracks {
            guard let agreed = connection.session.tracks.first(where: { $0.index == track.mediaIndex }) else {
                continue
            }
            publisher.tracks.append(
                PublisherTrack(track, number: publisher.tracks.count, transport: agreed.transport))
        }
        guard !publisher.tracks.isEmpty else {
            return connection.session.answerRecord(
                .refused(.methodNotValidInThisState, words: "set up a usable track first"), at: now)
        }
        publisher.isStarting = true
        start(publisher, of: connection, at: now)
    }

    /// Starts what a client wants to send, now or when the camera may be taken over again.
    private func start(_ publisher: Publisher, of connection: RTSPConnection, at now: Instant) {
        guard let gate = limits.publishing else { return }
        publisher.startDue = nil
        let stream = PublishedStream(
            deviceID: publisher.device, principal: connection.session.principal ?? "", protocolName: "RTSP",
            tracks: publisher.tracks.map(\.description))
        let (id, number, post) = (connection.id, publisher.number, publisherPost)
        Task {
            do throws(SignallingError) {
                let started = try await gate.start(stream) { track in
                    post.post { shard, now in shard.requestKeyFrame(track: track, of: id, number, at: now) }
                } ended: { end in
                    post.post { shard, now in shard.endPublisher(of: id, number, because: end, at: now) }
                }
                let isTaken = post.post { shard, now in shard.begin(started, of: id, number, at: now) }
                if !isTaken { await gate.end(started.sessionID, because: .shuttingDown) }
            } catch {
                post.post { shard, now in shard.refuseRecording(error, of: id, number, at: now) }
            }
        }
    }

    /// The publisher of a connection, if it is still the one of this number.
    private func publisher(of id: UInt64, _ number: UInt64) -> (RTSPConnection, Publisher)? {
        guard let connection = connections[id], let publisher = connection.publisher, publisher.number == number else {
            return nil
        }
        return (connection, publisher)
    }

    /// A client is the camera from now on.
    private func begin(_ started: StartedPublication, of id: UInt64, _ number: UInt64, at now: Instant) {
        guard let (connection, publisher) = self.publisher(of: id, number), publisher.started == nil else {
            // The client has gone meanwhile.
            if let gate = limits.publishing {
                Task { await gate.end(started.sessionID, because: .disconnected) }
            }
            return
        }
        publisher.begin(started, nextReport: now + limits.reportInterval, at: now)
        for (index, track) in publisher.tracks.enumerated() {
            guard case .datagrams(let rtp, let rtcp) = track.transport else { continue }
            mediaSenders[connection.peer.withPort(rtp)] = (id, index)
            controlSenders[connection.peer.withPort(rtcp)] = (id, index)
        }
        connection.session.answerRecord(.started, at: now)
        counters.publishersStarted += 1
        report(
            .publishing(
                camera: publisher.device, host: connection.peer.host, userAgent: connection.session.userAgent,
                overUDP: publisher.usesDatagrams,
                leftOut: publisher.stream.notes))
        run(connection, at: now)
    }

    private func refuseRecording(_ error: SignallingError, of id: UInt64, _ number: UInt64, at now: Instant) {
        guard let (connection, publisher) = self.publisher(of: id, number) else { return }
        if case .publishersChangeTooOften(_, let wait) = error {
            // The program waits for its answer. Most give up when they are refused.
            publisher.startDue = now + wait
            return
        }
        publisher.isStarting = false
        let refusal = RTSPPublisherRefusal.failed(error.naming(publisher.path))
        connection.session.answerRecord(.refused(refusal.status, words: refusal.words), at: now)
        reportRefusal(publisher.device, refusal, connection, at: now)
        run(connection, at: now)
    }

    // MARK: Media

    /// Lets publishers send to the RTP port. If it cannot be watched, they have TCP.
    func watchMedia() {
        guard limits.publishing != nil, let ports, let buffers = try? DatagramBuffers(capacity: 64) else { return }
        for (family, descriptor) in ports.rtp.descriptors {
            _ = try? context.watch(descriptor, for: .readable) { [unowned self] _ in
                readMedia(family, into: buffers, at: context.now)
            }
        }
    }

    private func readMedia(_ family: TransportAddress.Family, into buffers: DatagramBuffers, at now: Instant) {
        guard let port = ports?.rtp else { return }
        // Strangers cannot hold the thread for longer than this many datagrams; the next turn reads on.
        for _ in 0..<16 {
            guard let batch = port.receive(family, into: buffers) else { return }
            for datagram in batch {
                guard let sender = mediaSenders[datagram.source], let connection = connections[sender.connection] else {
                    continue
                }
                connection.session.recordLife(at: now)
                receive(UnsafeRawBufferPointer(datagram.bytes), ofTrack: sender.track, connection, at: now)
            }
            guard batch.isFull else { return }
        }
    }

    /// RTCP of a publisher has come in a datagram.
    func receiveControl(_ datagram: ReceivedDatagram, at now: Instant) {
        guard let sender = controlSenders[datagram.source], let connection = connections[sender.connection] else {
            return
        }
        connection.session.recordLife(at: now)
        let bytes = UnsafeRawBufferPointer(datagram.bytes)
        if RTCP.isRTCP(bytes) { receive(bytes, ofTrack: sender.track, connection, at: now) }
    }

    /// A packet has come on a channel of the connection.
    func receive(mediaIndex: Int, _ range: Range<Int>, _ connection: RTSPConnection, at now: Instant) {
        guard let index = connection.publisher?.tracks.firstIndex(where: { $0.mediaIndex == mediaIndex }) else {
            return
        }
        receive(connection.session.bytes(in: range), ofTrack: index, connection, at: now)
    }

    /// Hands RTP or RTCP of a publisher over. What comes before RECORD, and in a pause, is dropped.
    private func receive(
        _ bytes: UnsafeRawBufferPointer, ofTrack index: Int, _ connection: RTSPConnection, at now: Instant
    ) {
        guard let publisher = connection.publisher, let publication = publisher.started?.publication,
            connection.session.state == .recording, publisher.tracks.indices.contains(index)
        else { return }
        let track = publisher.tracks[index]
        if RTCP.isRTCP(bytes) { return track.receiveControl(bytes, for: publication, at: now) }
        guard track.receive(bytes, for: publication, at: now) else { return }
        counters.packetsReceived += 1
        counters.bytesReceived += UInt64(bytes.count)
        if track.isKeyFrameRequestDue(at: now) { sendReport(of: track, publisher, connection, at: now) }
    }

    /// Somebody wants a key frame.
    private func requestKeyFrame(track: Int, of id: UInt64, _ number: UInt64, at now: Instant) {
        guard let (connection, publisher) = self.publisher(of: id, number), publisher.tracks.indices.contains(track)
        else {
            return
        }
        publisher.tracks[track].requestKeyFrame()
        guard publisher.tracks[track].isKeyFrameRequestDue(at: now) else { return }
        sendReport(of: publisher.tracks[track], publisher, connection, at: now)
        service(connection, at: now)
    }

    /// Does what is due for a publisher: its beginning, late datagrams, reports, and the news of its silence.
    func servicePublisher(_ connection: RTSPConnection, at now: Instant) {
        guard let publisher = connection.publisher else { return }
        if let due = publisher.startDue, due <= now { start(publisher, of: connection, at: now) }
        guard let publication = publisher.started?.publication else { return }
        for track in publisher.tracks {
            track.deliver(to: publication, at: now)
            if track.isKeyFrameRequestDue(at: now) { sendReport(of: track, publisher, connection, at: now) }
            track.reportSilence(to: publication, at: now)
        }
        guard publisher.nextReport <= now else { return }
        publisher.nextReport = now + limits.reportInterval
        for track in publisher.tracks where track.hasReceived {
            sendReport(of: track, publisher, connection, at: now)
        }
    }

    private func sendReport(
        of track: PublisherTrack, _ publisher: Publisher, _ connection: RTSPConnection, at now: Instant
    ) {
        withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { buffer in
            let length = track.writeReport(
                from: publisher.ssrc, canonicalName: connection.canonicalName, at: now, into: buffer)
            guard length > 0 else { return }
            let packet = UnsafeRawBufferPointer(rebasing: buffer[..<length])
            switch track.transport {
            case .interleaved(_, let channel):
                // One that does not read needs no report. It is a publisher for as long as it sends.
                if !connection.isBlocked { connection.session.send(packet, onChannel: channel) }
            case .datagrams(_, let port):
                ports?.rtcp.send(
                    packet, transmit: Transmit(destination: connection.peer.withPort(port), byteCount: length),
                    from: connection.local)
            }
        }
    }

    // MARK: Ending

    /// Something other than the client has ended what it publishes. RTSP has no message for that, so the connection ends.
    private func endPublisher(of id: UInt64, _ number: UInt64, because end: PublisherEnd, at now: Instant) {
        guard let (connection, _) = self.publisher(of: id, number) else { return }
        self.end(connection, because: .publishingEnded(end), at: now)
    }

    /// Ends what a connection publishes; the connection stays.
    func endPublisher(_ connection: RTSPConnection, because end: ReaderEnd) {
        guard let publisher = connection.publisher else { return }
        connection.publisher = nil
        for track in publisher.tracks {
            guard case .datagrams(let rtp, let rtcp) = track.transport else { continue }
            let (media, control) = (connection.peer.withPort(rtp), connection.peer.withPort(rtcp))
            // Another connection of the host may have taken the port over.
            if mediaSenders[media]?.connection == connection.id { mediaSenders[media] = nil }
            if controlSenders[control]?.connection == connection.id { controlSenders[control] = nil }
        }
        guard let sessionID = publisher.started?.sessionID, let gate = limits.publishing else { return }
        if case .publishingEnded = end { return }
        let reason = PublisherEnd(end)
        Task { await gate.end(sessionID, because: reason) }
    }
}

extension RTSPPublisherRefusal {
    /// The status of the answer.
    fileprivate var status: RTSPStatus {
        switch self {
        case .notOffered, .failed(.takesNoPublisher): .methodNotAllowed
        case .token, .failed(.mayNotPublish): .forbidden
        case .announcement(.unreadable), .announcement(.tooManyTracks): .badRequest
        case .announcement(.nothingUsable): .unsupportedMediaType
        case .failed(.unknownDevice): .notFound
        case .failed: .serviceUnavailable
        }
    }
}

extension SignallingError {
    /// The error with the camera's name as the client wrote it.
    fileprivate func naming(_ path: String) -> SignallingError {
        switch self {
        case .mayNotPublish: .mayNotPublish(device: path)
        case .takesNoPublisher: .takesNoPublisher(device: path)
        case .unknownDevice: .unknownDevice(path)
        case .stopped: .stopped(device: path)
        default: self
        }
    }
}
