import ICE
import PeerConnection
import Transport

extension MediaRelay {
    /// Takes a viewer in. `notify` is called on a shard's thread: it must not wait.
    public func addViewer(
        _ configuration: ViewerConfiguration, status: ViewerStatus,
        notify: @escaping @Sendable (ViewerEvent) -> Void
    ) {
        add(configuration.sessionID, configuration.peer, notify) { handle, notify in
            { shard, now in shard.add(configuration, as: handle, status: status, notify: notify, at: now) }
        }
    }

    /// Takes a session in, on the shard that its credentials name.
    func add(
        _ sessionID: String, _ peer: PeerConnectionConfiguration, _ notify: @escaping @Sendable (ViewerEvent) -> Void,
        message: (SessionHandle, @escaping @Sendable (ViewerEvent) -> Void) -> ShardMessage
    ) {
        let shard = ShardMark.shard(ofFragment: peer.localCredentials.usernameFragment.utf8, of: links.count)
        let handle = sessions.add(sessionID, shard: shard)
        let message = message(handle, forgetting(sessionID, handle, notify))
        if !links.post(to: shard, message) { sessions.remove(sessionID, handle) }
    }

    /// Lets the directory forget a session that has ended, before anybody else hears of its end.
    private func forgetting(
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
        links.post(to: handle.shard) { shard, now in
            if let viewer = shard.viewers[handle] { body(shard, viewer, now) }
        }
    }

    /// Ends a viewer's session with a goodbye.
    /// - Parameters:
    ///   - words: why, for the goodbye; nil if the service has no reason to give.
    ///   - whenRemoved: called once, when nothing more is sent to the viewer. It must not wait.
    public func removeViewer(
        _ sessionID: String, saying words: String? = nil, whenRemoved: @escaping @Sendable () -> Void = {}
    ) {
        guard let handle = sessions[sessionID] else { return whenRemoved() }
        let posted = links.post(to: handle.shard) { shard, now in
            if let viewer = shard.viewers[handle] {
                shard.dismiss(viewer, because: .removed, saying: words, at: now)
            }
            whenRemoved()
        }
        if !posted { whenRemoved() }
    }

    /// Opens the gate for a viewer's microphone, or shuts it with nil.
    public func setTalkbackSink(_ sessionID: String, _ sink: (any TalkbackSink)?) {
        post(to: sessionID) { _, viewer, _ in viewer.talkback.setSink(sink) }
    }

    /// Sends a viewer no sound for `duration`, or sound again with nil: half duplex while the viewer talks.
    public func holdSound(_ sessionID: String, for duration: Duration?) {
        post(to: sessionID) { _, viewer, now in viewer.holdSound(until: duration.map { now + $0 }, at: now) }
    }

    /// Sends packets of a viewer's data channels, each in a datagram. They are dropped while its transport is not up, as a network
    /// would drop them.
    public func sendData(_ sessionID: String, _ packets: [[UInt8]]) {
        post(to: sessionID) { shard, viewer, _ in shard.sendData(packets, to: viewer) }
    }

    /// Adds candidates that came after the offer.
    /// - Parameter areComplete: whether the viewer has said that no others follow.
    public func addRemoteCandidates(
        _ sessionID: String, _ candidates: [RemoteCandidate], areComplete: Bool = false
    ) {
        post(to: sessionID) { shard, viewer, now in
            shard.addRemoteCandidates(candidates, areComplete: areComplete, to: viewer, at: now)
        }
    }

    /// Starts ICE again with other credentials, at the gateway's present addresses; media goes on over the old path meanwhile.
    /// The credentials must come from the session's ``RelayPlacement``.
    public func restartICE(
        _ sessionID: String, local: ICECredentials, remote: ICECredentials, addresses: ICEAddresses
    ) {
        post(to: sessionID) { shard, viewer, now in
            shard.restartICE(viewer, local: local, remote: remote, addresses: addresses, at: now)
        }
    }
}

extension MediaRelay {
    /// The counters of the viewers now connected, by session.
    public func statistics() async -> [String: ViewerStatistics] {
        await read { shard in shard.viewers.values.map { ($0.sessionID, $0.readStatistics()) } }
            .reduce(into: [:]) { all, viewers in all.merge(viewers) { first, _ in first } }
    }

    /// What the relay has done since it started.
    public func counters() async -> RelayCounters {
        await read { $0.readCounters() }.reduce(into: RelayCounters()) { $0 += $1 }
    }

    /// What each shard answers, on its thread after all messages that have been posted to it. A shard that has ended
    /// answers nothing.
    private func read<Value: Sendable>(_ body: @escaping @Sendable (RelayShard) -> Value) async -> [Value] {
        var values: [Value] = []
        for shard in 0..<links.count {
            let value: Value? = await withCheckedContinuation { continuation in
                let posted = links.post(to: shard) { shard, _ in continuation.resume(returning: body(shard)) }
                if !posted { continuation.resume(returning: nil) }
            }
            if let value { values.append(value) }
        }
        return values
    }
}
