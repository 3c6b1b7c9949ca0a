import ICE
import PeerConnection
import Transport

extension MediaRelay {
    /// A place for another session of a camera: on its home shard while that has few sessions, or else on the one with the fewest.
    public func place(for camera: String) -> RelayPlacement { placements.take(preferring: home(of: camera)) }

    /// Adds a viewer. `notify` is called on a shard's thread: it must not wait.
    public func addViewer(
        _ configuration: ViewerConfiguration, status: SessionStatus,
        notify: @escaping @Sendable (SessionEvent) -> Void
    ) {
        add(configuration.sessionID, configuration.peer, notify) { handle, notify in
            { shard, now in shard.add(configuration, as: handle, status: status, notify: notify, at: now) }
        }
    }

    /// Adds a session on the shard that its credentials name.
    func add(
        _ sessionID: String, _ peer: PeerConnectionConfiguration, _ notify: @escaping @Sendable (SessionEvent) -> Void,
        message: (SessionHandle, @escaping @Sendable (SessionEvent) -> Void) -> ShardMessage
    ) {
        let shard = ShardMark.shard(ofFragment: peer.localCredentials.usernameFragment.utf8, of: links.count)
        let handle = sessions.add(sessionID, shard: shard)
        let message = message(handle, forgetting(sessionID, handle, notify))
        if !links.post(to: shard, message) { sessions.remove(sessionID, handle) }
    }

    /// Lets the directory forget a session that has ended, before anybody else hears of its end.
    private func forgetting(
        _ sessionID: String, _ handle: SessionHandle, _ notify: @escaping @Sendable (SessionEvent) -> Void
    ) -> @Sendable (SessionEvent) -> Void {
        let sessions = sessions
        return { event in
            if case .ended = event { sessions.remove(sessionID, handle) }
            notify(event)
        }
    }

    /// Runs `body` on the thread of a session, if there is one of this name that `kind` finds.
    private func post<Found: Session>(
        to sessionID: String, _ kind: @escaping @Sendable (RelayShard, SessionHandle) -> Found?,
        _ body: @escaping @Sendable (RelayShard, Found, Instant) -> Void
    ) {
        guard let handle = sessions[sessionID] else { return }
        links.post(to: handle.shard) { shard, now in
            if let session = kind(shard, handle) { body(shard, session, now) }
        }
    }

    /// Runs `body` on the thread of a session, if there is one of this name.
    func post(toSession sessionID: String, _ body: @escaping @Sendable (RelayShard, Session, Instant) -> Void) {
        post(to: sessionID, { $0.session($1) }, body)
    }

    /// Runs `body` on the thread of a viewer, if there is one of this name.
    func post(toViewer sessionID: String, _ body: @escaping @Sendable (RelayShard, Viewer, Instant) -> Void) {
        post(to: sessionID, { $0.viewers[$1] }, body)
    }

    /// Runs `body` on the thread of a publisher, if there is one of this name.
    func post(toPublisher sessionID: String, _ body: @escaping @Sendable (RelayShard, Publisher, Instant) -> Void) {
        post(to: sessionID, { $0.publishers[$1] }, body)
    }

    /// Ends a session. A viewer gets a goodbye.
    /// - Parameters:
    ///   - words: why, for the goodbye; nil if the service has no reason to give.
    ///   - whenRemoved: called once, when nothing more is sent to the peer. It must not wait.
    public func removeSession(
        _ sessionID: String, saying words: String? = nil, whenRemoved: @escaping @Sendable () -> Void = {}
    ) {
        guard let handle = sessions[sessionID] else { return whenRemoved() }
        let posted = links.post(to: handle.shard) { shard, now in
            if let session = shard.session(handle) {
                shard.dismiss(session, because: .removed, saying: words, at: now)
            }
            whenRemoved()
        }
        if !posted { whenRemoved() }
    }

    /// Opens the gate for a viewer's microphone, or shuts it with nil.
    public func setTalkbackSink(_ sessionID: String, _ sink: (any TalkbackSink)?) {
        post(toViewer: sessionID) { _, viewer, _ in viewer.talkback.sink = sink }
    }

    /// Sends a viewer no sound for `duration`, or sound again with nil: half duplex while the viewer talks.
    public func holdSound(_ sessionID: String, for duration: Duration?) {
        post(toViewer: sessionID) { _, viewer, now in viewer.holdSound(until: duration.map { now + $0 }, at: now) }
    }

    /// Sends packets of a viewer's data channels, each in a datagram. They are dropped while its transport is not up, as a network
    /// would drop them.
    public func sendData(_ sessionID: String, _ packets: [[UInt8]]) {
        post(toViewer: sessionID) { shard, viewer, _ in shard.sendData(packets, to: viewer) }
    }

    /// Adds candidates that came after the offer.
    /// - Parameter areComplete: whether the peer has said that no others follow.
    public func addRemoteCandidates(
        _ sessionID: String, _ candidates: [RemoteCandidate], areComplete: Bool = false
    ) {
        post(toSession: sessionID) { shard, session, now in
            shard.addRemoteCandidates(candidates, areComplete: areComplete, to: session, at: now)
        }
    }

    /// Starts ICE again with other credentials, at the gateway's present addresses; media goes on over the old path meanwhile.
    /// The credentials must come from the session's ``RelayPlacement``.
    public func restartICE(
        _ sessionID: String, local: ICECredentials, remote: ICECredentials, addresses: ICEAddresses
    ) {
        post(toSession: sessionID) { shard, session, now in
            shard.restartICE(session, local: local, remote: remote, addresses: addresses, at: now)
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

/// A session's place among the relay's shards. It is taken before the session's credentials are made, because the
/// username fragment names the shard, and counts as a session of that shard for as long as it is kept.
public final class RelayPlacement: Sendable {
    /// The shard's number, from 0.
    public let shard: Int
    private let placements: Placements

    fileprivate init(shard: Int, placements: Placements) {
        self.shard = shard
        self.placements = placements
    }

    deinit {
        placements.leave(shard)
    }

    /// Makes local credentials for the session, at its start or at a restart of ICE.
    public func credentials(using random: inout RandomSource) -> ICECredentials {
        ShardMark.credentials(for: shard, of: placements.shards, using: &random)
    }
}

/// How many sessions each shard has.
final class Placements: Sendable {
    let shards: Int
    private let counts: Locked<[Int]>

    init(shards: Int) {
        self.shards = shards
        counts = Locked(Array(repeating: 0, count: shards))
    }

    /// A preferred shard with fewer sessions than this takes another one, however few the others have. A frame for that many
    /// viewers takes a fraction of a millisecond.
    static let few = 16

    /// A place on the preferred shard while it has fewer than ``few`` sessions, or else on the one with the fewest, the first of
    /// several.
    func take(preferring preferred: Int) -> RelayPlacement {
        let shard = counts.withLock { counts in
            var chosen = 0
            for shard in counts.indices where counts[shard] < counts[chosen] { chosen = shard }
            if counts[preferred] < Self.few { chosen = preferred }
            counts[chosen] += 1
            return chosen
        }
        return RelayPlacement(shard: shard, placements: self)
    }

    fileprivate func leave(_ shard: Int) {
        counts.withLock { $0[shard] -= 1 }
    }
}
