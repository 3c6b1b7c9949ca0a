import ICE
import PeerConnection
import Transport

/// How sessions begin, change and end.
extension RelayShard {
    /// The viewers and the publishers.
    var sessions: [Session] { Array(viewers.values) + Array(publishers.values) }

    /// The session of a handle, whatever it is; nil when it has ended.
    func session(_ handle: SessionHandle) -> Session? { viewers[handle] ?? publishers[handle] }

    /// Adds a viewer and starts its connection.
    func add(
        _ configuration: ViewerConfiguration, as handle: SessionHandle, status: SessionStatus,
        notify: @escaping @Sendable (SessionEvent) -> Void, at now: Instant
    ) {
        guard let peer = makePeer(configuration.peer, status: status, notify: notify, at: now) else { return }
        var egress: [Egress] = []
        for description in configuration.egress {
            guard let track = tracks[description.track] else { continue }
            egress.append(Egress(configuration: description, track: track, random: &random))
        }
        var reports = ReportSchedule(fallbackSSRC: UInt32(truncatingIfNeeded: random.next()))
        reports.setWallClock(wallClock)
        let viewer = Viewer(
            configuration, handle: handle, peer: peer, egress: egress, reports: reports, status: status, notify: notify,
            checkAccount: checkAccount(of: configuration.principal, at: now))
        guard egress.count == configuration.egress.count else {
            // The camera came back with other tracks between the answer and now.
            end(viewer, because: .viewer(.trackGone))
            return
        }
        viewers[handle] = viewer
        for index in egress.indices { egress[index].track.add(viewer) }
        status.record(.offer, at: configuration.offerReceived)
        status.record(.answer, at: configuration.answerReady)
        begin(viewer, describedAs: configuration.peer.addresses, at: now)
    }

    /// Adds a publisher and starts its connection.
    func add(
        _ configuration: PublisherConfiguration, as handle: SessionHandle, status: SessionStatus,
        sink: any PublisherSink, notify: @escaping @Sendable (SessionEvent) -> Void, at now: Instant
    ) {
        guard let peer = makePeer(configuration.peer, status: status, notify: notify, at: now) else { return }
        let ingest = Ingest(
            tracks: configuration.tracks, reducedSizeRTCP: configuration.reducedSizeRTCP, sink: sink,
            ssrc: UInt32(truncatingIfNeeded: random.next()))
        let publisher = Publisher(
            configuration, handle: handle, peer: peer, ingest: ingest, status: status, notify: notify,
            checkAccount: checkAccount(of: configuration.principal, at: now))
        publishers[handle] = publisher
        status.record(.offer, at: now)
        status.record(.answer, at: now)
        begin(publisher, describedAs: configuration.peer.addresses, at: now)
    }

    /// Makes the connection of a new session; nil if there can be none, which has been reported.
    private func makePeer(
        _ configuration: PeerConnectionConfiguration, status: SessionStatus,
        notify: @Sendable (SessionEvent) -> Void, at now: Instant
    ) -> PeerConnection? {
        var configuration = configuration
        if links.count > 1 { configuration.transactionMark = UInt8(truncatingIfNeeded: index) }
        do throws(PeerConnectionError) {
            return try PeerConnection(
                configuration: configuration, random: RandomSource.derived(from: &random), now: now)
        } catch {
            status.record(.notConnected(error))
            notify(.ended(.notConnected(error)))
            return nil
        }
    }

    /// Starts the connection of a session that has been added. `described` is what its description said of this host.
    private func begin(_ session: Session, describedAs described: ICEAddresses, at now: Instant) {
        for fragment in session.fragments { byFragment[fragment] = session }
        takeRelayedAddresses(session, instead: described, at: now)
        service(session, at: now)
    }

    /// Adds candidates that a peer has named after its offer; see ``MediaRelay/addRemoteCandidates(_:_:areComplete:)``.
    func addRemoteCandidates(
        _ candidates: [RemoteCandidate], areComplete: Bool = false, to session: Session, at now: Instant
    ) {
        for candidate in candidates { session.peer.addRemoteCandidate(candidate) }
        if areComplete { session.peer.endOfRemoteCandidates(at: now) }
        // One of them may say of what kind the path in use is.
        session.status.record(session.peer.pathKind)
        service(session, at: now)
    }

    /// Starts a session's ICE again. The peer's checks may still name the credentials from before.
    func restartICE(
        _ session: Session, local: ICECredentials, remote: ICECredentials, addresses: ICEAddresses? = nil,
        at now: Instant
    ) {
        if let fragment = UsernameFragmentKey(local.usernameFragment.utf8) {
            byFragment[fragment] = session
            session.fragments.append(fragment)
        }
        if session.fragments.count > Self.rememberedFragments {
            byFragment[session.fragments.removeFirst()] = nil
        }
        session.peer.restartICE(local: local, remote: remote, addresses: addresses, at: now)
        if let addresses { takeRelayedAddresses(session, instead: addresses, at: now) }
        service(session, at: now)
    }

    /// A path in use belongs to the generation before at most, so keeping more has no use.
    private static let rememberedFragments = 4

    /// Ends a session by our own wish: a goodbye for a player, and `close_notify` for the connection.
    /// - Parameter words: what the goodbye says; nil for the words of the end.
    func dismiss(_ session: Session, because end: RelayEnd, saying words: String? = nil, at now: Instant) {
        guard !session.hasEnded else { return }
        session.sendGoodbye(saying: words ?? end.words, through: &sender, scratch: scratch)
        session.peer.close()
        transmit(session, at: now)
        self.end(session, because: end)
    }
    /// Ends a session and removes it.
    func end(_ session: Session, because end: RelayEnd) {
        guard !session.hasEnded else { return }
        session.hasEnded = true
        viewers[session.handle] = nil
        publishers[session.handle] = nil
        for fragment in session.fragments { byFragment[fragment] = nil }
        for address in session.askedAddresses { forgetAsked(address, by: session) }
        for known in session.knownAddresses.reversed() {
            session.knownAddresses.removeLast()
            forget(known, of: session)
        }
        deadlines.remove(.session(session.handle))
        counters.add(session.peer.connectivityCounters)
        session.countEnd(in: &counters)
        session.leave()
        session.status.record(end)
        session.notify(.ended(end))
    }
}
