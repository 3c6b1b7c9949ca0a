import Cameras
import DatagramPort
import Signalling
import StreamFormats
import Transport

extension RTMPServerShard {
    /// The socket of a connection is ready for something.
    func handle(_ readiness: ShardContext.Readiness, of id: UInt64, at now: Instant) {
        guard let connection = connections[id] else { return }
        if readiness.contains(.readable), !read(connection, at: now) {
            return end(connection, because: .closedByClient, at: now)
        }
        guard !connection.isEnded else { return }
        // If nothing is read, nothing else would notice the end.
        if readiness.contains(.closed), !connection.wantsInput {
            return end(connection, because: .connectionLost, at: now)
        }
        service(connection, at: now)
    }

    /// Reads what has arrived; false when the client has gone.
    private func read(_ connection: RTMPConnection, at now: Instant) -> Bool {
        // One connection must not occupy the thread.
        for _ in 0..<4 {
            guard connection.wantsInput else { return true }
            switch connection.socket.receive(into: buffer) {
            case .bytes(let count):
                counters.bytesReceived += UInt64(count)
                // What comes after the end is not looked at. If it were not read, the kernel would reset the connection, and
                // the client could lose the answer that says why.
                if case .closing = connection.stage { continue }
                let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
                advance(connection, at: now) { session, body throws(RTMPServerError) in
                    try session.handle(bytes, body)
                }
                guard !connection.isEnded, connection.flush(at: now) else { return connection.isEnded }
            case .wouldBlock: return true
            case .closed, .failed: return false
            }
        }
        return true
    }

    /// Lets the session take a step, and acts on what comes of it.
    private func advance(
        _ connection: RTMPConnection, at now: Instant,
        _ step: (inout RTMPServerSession, (StreamUnit) -> Void) throws(RTMPServerError) -> Void
    ) {
        var failure: RTMPServerError?
        do throws(RTMPServerError) {
            try step(&connection.session) { arrived.append($0) }
        } catch {
            failure = error
        }
        // The units have come before the events: nothing is published after the end of it, or before it is accepted.
        pass(to: connection, at: now)
        arrived.removeAll(keepingCapacity: true)
        // Also while nothing comes that can be used: the person in front of the encoder will not wait for the end of it.
        reportLeftOut(connection, at: now)
        while !connection.isEnded, let event = connection.session.pollEvent() { handle(event, of: connection, at: now) }
        if let failure { dismiss(connection, because: .violation(failure), at: now) }
    }

    /// Passes on what has arrived.
    private func pass(to connection: RTMPConnection, at now: Instant) {
        guard !arrived.isEmpty else { return }
        counters.unitsReceived += UInt64(arrived.count)
        connection.since = now
        switch connection.stage {
        case .describing:
            var isReady = false
            for unit in arrived {
                // All of them are kept, also those behind the one that ends the wait.
                let isOver = connection.waiting.add(unit, awaitsTracks: connection.session.awaitsTracks, at: now)
                isReady = isReady || isOver
            }
            if isReady { start(connection, at: now) }
        case .publishing:
            let (tracks, wallClock) = (connection.session.tracks, WallClock.now)
            for unit in arrived { connection.output?.take(unit, of: tracks, at: now, wallClock: wallClock) }
        case .greeting, .asking, .refused, .starting, .closing: break
        }
    }

    private func reportLeftOut(_ connection: RTMPConnection, at now: Instant) {
        let parts = connection.session.leftOut
        guard parts.count != connection.leftOut.count, let admitted = connection.admitted else { return }
        connection.leftOut = parts
        let reported = refusedPublishers.record(
            camera: admitted.deviceID, host: connection.peer.host,
            reason: parts.map(\.description).joined(separator: "; "), at: now)
        guard reported != nil else { return }
        report(.leftOut(device: admitted.deviceID, parts: parts))
    }

    private func handle(_ event: RTMPServerEvent, of connection: RTMPConnection, at now: Instant) {
        if case .closing = connection.stage { return }
        switch event {
        case .publish(let request): ask(request, connection, at: now)
        case .unpublished:
            report(.ended(.stopped), of: connection, at: now)
            stopPublishing(connection, because: .stopped)
            connection.request = nil
            connection.stage = .greeting
            connection.since = now
        case .askedToPlay: close(connection, because: .askedToPlay, at: now)
        }
    }

    // MARK: Publishing

    private func ask(_ request: RTMPPublishRequest, _ connection: RTMPConnection, at now: Instant) {
        connection.request = request
        connection.stage = .asking
        connection.since = now
        connection.ticket += 1
        let (id, ticket) = (connection.id, connection.ticket)
        Task { [admission, address] in
            let outcome = await admission.admit(request.camera, request.token)
            address.post { handler, now in handler.take(outcome, of: id, ticket, at: now) }
        }
    }

    private func take(
        _ outcome: Result<AdmittedPublisher, PublisherRefusal>, of id: UInt64, _ ticket: UInt64, at now: Instant
    ) {
        guard let connection = connections[id], connection.ticket == ticket, connection.stage == .asking else { return }
        switch outcome {
        case .success(let admitted):
            connection.admitted = admitted
            connection.stage = .describing
            connection.since = now
            connection.waiting = WaitingUnits()
            connection.leftOut = []
            if !connection.isVouchedFor {
                connection.isVouchedFor = true
                ledger.vouch(for: connection, principal: admitted.principal)
            }
            advance(connection, at: now) { session, body throws(RTMPServerError) in try session.accept(body) }
            service(connection, at: now)
        case .failure(.wrongToken):
            counters.refusedCredentials += 1
            report(.refused(host: connection.peer.host))
            connection.stage = .refused(.wrongToken, at: signIns.refuse(connection.peer, at: now))
            service(connection, at: now)
        case .failure(let refusal): dismiss(connection, because: .refused(refusal), at: now)
        }
    }

    /// The tracks are known: makes the publisher the camera.
    private func start(_ connection: RTMPConnection, at now: Instant) {
        guard let admitted = connection.admitted else { return }
        let tracks = PublishedOutput.descriptions(of: connection.session.tracks)
        guard !tracks.isEmpty else {
            return dismiss(connection, because: .unusable(connection.session.leftOut), at: now)
        }
        connection.stage = .starting
        connection.ticket += 1
        let (id, ticket) = (connection.id, connection.ticket)
        let stream = PublishedStream(
            deviceID: admitted.deviceID, principal: admitted.principal, protocolName: "RTMP", tracks: tracks)
        Task { [gate, address] in
            let outcome: Result<StartedPublication, SignallingError>
            do throws(SignallingError) {
                // RTMP has no way to ask for a key frame.
                let started = try await gate.start(stream) { _ in
                } ended: { end in
                    address.post { handler, now in handler.publicationEnded(id, ticket, end, at: now) }
                }
                outcome = .success(started)
            } catch {
                outcome = .failure(error)
            }
            let isPosted = address.post { handler, now in handler.take(outcome, of: id, ticket, at: now) }
            if !isPosted, case .success(let started) = outcome {
                await gate.end(started.sessionID, because: .shuttingDown)
            }
        }
    }

    private func take(
        _ outcome: Result<StartedPublication, SignallingError>, of id: UInt64, _ ticket: UInt64, at now: Instant
    ) {
        guard let connection = connections[id], connection.ticket == ticket, connection.stage == .starting else {
            // The connection has ended meanwhile.
            if case .success(let started) = outcome { endPublication(started.sessionID, because: .stopped) }
            return
        }
        switch outcome {
        case .success(let started):
            connection.stage = .publishing(sessionID: started.sessionID)
            counters.publishersStarted += 1
            connection.output = PublishedOutput(started.publication, random: makeRandom())
            connection.since = now
            let (tracks, wallClock) = (connection.session.tracks, WallClock.now)
            for unit in connection.waiting.take() {
                connection.output?.take(unit, of: tracks, at: now, wallClock: wallClock)
            }
            service(connection, at: now)
        case .failure(let error): dismiss(connection, because: .failed(error), at: now)
        }
    }

    /// Something else has ended the publisher.
    private func publicationEnded(_ id: UInt64, _ ticket: UInt64, _ end: PublisherEnd, at now: Instant) {
        guard let connection = connections[id], connection.ticket == ticket else { return }
        dismiss(connection, because: .ended(end), at: now)
    }

    /// The publisher is not the camera any more. The connection stays.
    private func stopPublishing(_ connection: RTMPConnection, because end: PublisherEnd) {
        if case .publishing(let sessionID) = connection.stage { endPublication(sessionID, because: end) }
        connection.ticket += 1
        connection.output = nil
        connection.waiting = WaitingUnits()
        connection.admitted = nil
    }

    private func endPublication(_ sessionID: String, because end: PublisherEnd) {
        Task { [gate] in await gate.end(sessionID, because: end) }
    }

    // MARK: Ending

    /// Sends the client the reason why it cannot go on, and closes the connection once it has been read.
    private func dismiss(_ connection: RTMPConnection, because end: RTMPPublisherEnd, at now: Instant) {
        guard !connection.isEnded else { return }
        if case .closing = connection.stage { return }
        let code: RTMPRefusal
        if case .refused = end { code = .denied } else { code = .failed }
        connection.session.refuse(code, saying: end.words)
        close(connection, because: end, at: now)
    }

    /// Closes the connection when the client has read what was written.
    private func close(_ connection: RTMPConnection, because end: RTMPPublisherEnd, at now: Instant) {
        report(end, of: connection, at: now)
        stopPublishing(connection, because: end.publisherEnd)
        connection.stage = .closing(until: now + limits.closingTimeout)
        service(connection, at: now)
    }

    private func report(_ end: RTMPPublisherEnd, of connection: RTMPConnection, at now: Instant) {
        guard end != .refused(.wrongToken) else { return }
        if case .closing = connection.stage { return }
        let request = connection.request
        // A client that asks for nothing is not reported. One that speaks TLS is: it may be a camera that is set to rtmps.
        guard request != nil || end.isMistake else { return }
        let (device, host) = (connection.admitted?.deviceID, connection.peer.host)
        // Any client may choose this name, and make it long.
        let camera = String((request?.camera ?? "").unicodeScalars.prefix(64))
        let due =
            if let device {
                refusedPublishers.record(camera: device, host: host, reason: end.words, at: now)
            } else {
                refusedStrangers.record(camera: camera, host: host, reason: end.words, at: now)
            }
        guard let count = due else { return }
        report(
            .ended(
                camera: camera, device: device, host: host, program: request?.program ?? "", end: end,
                count: count))
    }

    /// Sends what waits for a connection, and waits for what it wants.
    func service(_ connection: RTMPConnection, at now: Instant) {
        guard !connection.isEnded else { return }
        guard connection.flush(at: now) else { return end(connection, because: .connectionLost, at: now) }
        var interest: ShardContext.Readiness = connection.wantsInput ? .readable : []
        if connection.isBlocked { interest.insert(.writable) }
        guard interest != connection.interest, let watch = connection.watch else { return }
        do throws(SystemCallError) {
            try context.modify(watch, for: interest)
            connection.interest = interest
        } catch {
            end(connection, because: .connectionLost, at: now)
        }
    }

    /// A stage has lasted too long, or the time for an answer has come.
    func handleDeadline(of connection: RTMPConnection, at now: Instant) {
        if let since = connection.blockedSince, now - since >= limits.stallTimeout {
            return end(connection, because: .stoppedReading, at: now)
        }
        guard connection.stageDeadline(limits) <= now else { return }
        switch connection.stage {
        case .greeting, .asking: dismiss(connection, because: .tooLate, at: now)
        case .refused(let refusal, _): dismiss(connection, because: .refused(refusal), at: now)
        case .describing where connection.session.tracks.isEmpty && !connection.session.leftOut.isEmpty:
            dismiss(connection, because: .unusable(connection.session.leftOut), at: now)
        case .describing, .publishing: dismiss(connection, because: .silent, at: now)
        case .starting: break
        case .closing: end(connection, because: .closedByClient, at: now)
        }
    }

    /// Ends a connection and everything that belongs to it.
    func end(_ connection: RTMPConnection, because end: RTMPPublisherEnd, at now: Instant) {
        guard !connection.isEnded else { return }
        connection.recordEnd()
        report(end, of: connection, at: now)
        stopPublishing(connection, because: end.publisherEnd)
        if let watch = connection.watch { context.unwatch(watch) }
        connections[connection.id] = nil
        ledger.leave(connection)
    }
}
